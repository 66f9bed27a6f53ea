package rules

// Posting is the order in which a post to the list is judged: Mailman's default posting
// chain, and three rules of our own. The first hit that leads to a chain decides; a hit
// without one is noted, and "any" holds the post in the end.
var Posting = []Rule{
	{"null-sender", nullSender, "discard", "The envelope sender is empty: a report or an automatic answer."},
	{"dmarc-mitigation", dmarcMitigation, "dmarc", "The author's domain publishes a DMARC policy, and the list does not take such posts."},
	{"no-senders", noSenders, "discard", "No field of sender_headers has a readable address."},
	{"approved", approved, "accept", "The post carries the moderator's password."},
	{"loop", loop, "discard", "The post has been through this list already, or through a hundred hosts."},
	{"banned-address", bannedAddress, "discard", "A sender is on the list's or the site's ban list."},
	{"header-match", headerMatch, "hold", "A header field is as header_checks or header_matches says."},
	{"emergency", emergency, "hold", "The list is in emergency mode."},
	{"rate-limit", rateLimit, "hold", "Too many posts of this author, or to this list, within an hour."},
	{"member-moderation", memberModeration, "moderation", "An author is a member who is moderated."},
	{"nonmember-moderation", nonmemberModeration, "moderation", "An author is not a member."},
	{"auto-submitted", autoSubmitted, "", "The post is a machine's answer."},
	{"administrivia", administrivia, "", "The post looks like a command."},
	{"implicit-dest", implicitDest, "", "The list is not named in To or Cc."},
	{"max-recipients", maxRecipients, "", "Too many addresses in To and Cc."},
	{"max-size", maxSize, "", "The post is too large."},
	{"news-moderation", newsModeration, "", "The list feeds a moderated newsgroup; there is no gateway, so it never has a hit."},
	{"no-subject", noSubject, "", "The post has no subject."},
	{"digests", digests, "", "The post answers a digest as a whole."},
	{"suspicious-header", suspiciousHeader, "", "A header field is as bounce_matching_headers says."},
	{"any", anyHit, "hold", "One of the rules before has a hit."},
	{"truth", truth, "accept", "Always."},
}

// Owner is the order for mail to the owners. Reports reach them; only a loop is cut.
var Owner = []Rule{
	{"loop", ownerLoop, "discard", "The mail went to these owners already, or through a hundred hosts."},
	{"truth", truth, "accept", "Always."},
}
