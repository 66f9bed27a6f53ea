package templates

import (
	"fmt"
	"slices"
)

// Row is one template: what it is for and what it can show.
type Row struct {
	Name Name
	// Bare: a piece of another message, without a subject of its own.
	Bare bool
	// Vars are its variables besides Common.
	Vars []string
	// Doc is one sentence for the manual.
	Doc string
}

// Common are the variables that every template has.
var Common = []string{
	"listname", "short_listname", "list_id", "domain", "display_name", "description", "info", "language",
	"posting_address", "request_email", "owner_email", "subscribe_address", "unsubscribe_address", "site_email",
}

// Table is every template, in order of name.
var Table = []Row{
	{DomainNewList, false, []string{"user_email"}, "To the first owner of a list that was made."},
	{AdminActionPost, false, []string{"sender_email", "subject", "reasons", "held_id", "size", "token"}, "To the moderators: a post is held."},
	{AdminActionSubscribe, false, []string{"member", "user_name", "token"}, "To the moderators: somebody wants to join."},
	{AdminActionUnsubscribe, false, []string{"member", "user_name", "token"}, "To the moderators: somebody wants to leave."},
	{AdminComplaint, false, []string{"member", "action", "reasons"}, "To the owners: a member has complained of spam, and what followed."},
	{AdminDisable, false, []string{"member", "score", "reasons"}, "To the owners: mail to a member was stopped for bounces."},
	{AdminIncrement, false, []string{"member", "score", "reasons"}, "To the owners: a member's bounce score grew."},
	{AdminOwnerBounces, false, []string{"member", "role", "reasons"}, "To the site's owner: mail to an owner or moderator of a list comes back."},
	{AdminPending, false, []string{"count", "data", "more"}, "To the moderators, once a day: what waits for them, and how to decide."},
	{AdminRefused, false, []string{"member", "count", "date", "reasons"}, "To the owners: a member is refused for policy on every post."},
	{AdminRemoval, false, []string{"member", "reasons"}, "To the owners: a member was removed for bounces."},
	{AdminStorm, false, []string{"receiver", "count", "kind", "reasons"}, "To the owners: many members at one domain bounce alike, and are not scored for it."},
	{AdminSubscribe, false, []string{"member", "user_name"}, "To the owners: somebody joined."},
	{AdminUndelivered, false, []string{"count", "subject", "message_id", "data", "more"}, "To the owners: a post could not be delivered to some."},
	{AdminUnrecognized, false, []string{"reasons"}, "To the owners, above mail to the bounce address that is no report of a kind we know."},
	{AdminUnsubscribe, false, []string{"member", "user_name"}, "To the owners: somebody left."},
	{DigestFooter, true, digestVars, "Under each digest."},
	{DigestHeader, true, digestVars, "Above a digest's topics; empty: none."},
	{DigestMasthead, true, digestVars, "The first lines of each digest."},
	{GenericFooter, true, userVars, "The footer that others may be made of."},
	{RegularFooter, true, userVars, "Under each post, where the setting footer is empty and this is the site's own."},
	{RegularHeader, true, userVars, "Above each post, likewise; setting header."},
	{UserInvite, false, confirmVars, "To somebody whom an owner invites."},
	{UserRequest, false, append([]string{"request"}, confirmVars...), "To a member or owner who asks for something else: please confirm."},
	{UserSubscribe, false, confirmVars, "To somebody who wants to join: please confirm."},
	{UserUnsubscribe, false, confirmVars, "To somebody who wants to leave: please confirm."},
	{UserComplaint, false, []string{"user_email", "user_name", "token"}, "To a member whose mail was stopped for a complaint: reply to get it again."},
	{UserEnabled, false, []string{"user_email", "stopped"}, "To a member who has answered a probe or notice; stopped: it was stopped for another reason, too."},
	{UserGoodbye, false, []string{"user_email", "user_name", "user_name_or_address"}, "To a member who has left."},
	{UserHold, false, []string{"sender_email", "subject", "reasons", "token"}, "To a poster: the post is held."},
	{UserNoMoreToday, false, []string{"sender_email", "count"}, "To somebody who gets no more automatic answers today."},
	{UserPost, false, []string{"subject", "user_email"}, "To a poster who wants each post acknowledged."},
	{UserProbe, false, []string{"sender_email", "user_email", "reasons", "token"}, "To a member whose mail bounces: does this arrive?"},
	{UserRefuse, false, []string{"user_email", "request", "reasons"}, "To somebody whose request the moderators refused."},
	{UserRejected, false, []string{"sender_email", "subject", "reasons"}, "To a poster: the post was rejected."},
	{UserTooLate, false, nil, "To somebody whose answer came too late, or twice."},
	{UserUndelivered, false, []string{"count", "subject", "reasons"}, "To a poster: a mail system refused the post."},
	{UserWarning, false, []string{"sender_email", "user_email", "count", "token"}, "To a member whose mail was stopped: you will be removed."},
	{UserWelcome, false, []string{"user_email", "user_name", "user_name_or_address", "delivery_mode"}, "To a new member."},
	{SiteTrouble, false, []string{"host", "reasons"}, "To the site's owner: the smarthost is in trouble."},
}

var (
	digestVars  = []string{"volume", "issue", "count", "date"}
	userVars    = []string{"user_email", "user_name", "user_name_or_address", "user_delivered_to"}
	confirmVars = []string{"user_email", "sender_email", "token", "confirm_email", "confirm_url"}
)

// Lookup finds a row of Table.
func Lookup(n Name) (Row, error) {
	i := slices.IndexFunc(Table, func(r Row) bool { return r.Name == n })
	if i < 0 {
		return Row{}, fmt.Errorf("no template %q", n)
	}
	return Table[i], nil
}

// has reports whether the template may show a variable.
func (r Row) has(name string) bool {
	return slices.Contains(Common, name) || slices.Contains(r.Vars, name)
}
