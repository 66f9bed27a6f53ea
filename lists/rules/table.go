package rules

import "qrunner/lists"

// Posting is the order in which a post to the list is judged: the first hit whose
// action is not defer decides.
var Posting = []Rule{
	{"null-sender", nullSender, lists.ActionDiscard, "The envelope sender is empty: a report or an automatic answer."},
	{"no-senders", noSenders, lists.ActionHold, "From has no readable address."},
	{"approved", approved, lists.ActionAccept, "The post carries the moderator's password."},
	{"loop", loop, lists.ActionDiscard, "The post has been through this list already, or through a hundred hosts."},
	{"banned-address", bannedAddress, lists.ActionDiscard, "A sender is on the ban list."},
	{"header-match", headerMatch, lists.ActionHold, "A header field is as header_matches says."},
	{"emergency", emergency, lists.ActionHold, "The list is in emergency mode."},
	{"member-moderation", memberModeration, lists.ActionHold, "The author is a member who is moderated."},
	{"nonmember-moderation", nonmemberModeration, lists.ActionHold, "An author is not a member."},
	{"administrivia", administrivia, lists.ActionDefer, "The post looks like a command."},
	{"implicit-dest", implicitDest, lists.ActionDefer, "The list is not named in To or Cc."},
	{"max-recipients", maxRecipients, lists.ActionDefer, "Too many addresses in To and Cc."},
	{"max-size", maxSize, lists.ActionDefer, "The post is too large."},
	{"no-subject", noSubject, lists.ActionDefer, "The post has no subject."},
	{"digests", digests, lists.ActionDefer, "The post answers a digest as a whole."},
	{"suspicious-header", suspiciousHeader, lists.ActionDefer, "A header field is as bounce_matching_headers says."},
	{"any", anyHit, lists.ActionHold, "One of the rules before has a hit."},
	{"truth", truth, lists.ActionAccept, "Always."},
}

// Owner is the order for mail to the owners. Reports reach them; only a loop is cut.
var Owner = []Rule{
	{"loop", ownerLoop, lists.ActionDiscard, "The mail went to these owners already, or through a hundred hosts."},
	{"truth", truth, lists.ActionAccept, "Always."},
}
