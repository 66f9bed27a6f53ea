package lists

import (
	"context"
	"strings"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// List is what rules and handlers see of a list: its state at one moment. It and
// what hangs on it never change.
type List struct {
	ID ID
	// Incarnation tells a list from an earlier one of the same name.
	Incarnation string
	Settings    *Settings
	Roster      Roster
	// Addresses gives the preferences that an address has on all lists (AddressPrefTable),
	// as they are now; nil: none has any.
	Addresses func(mailaddr.Address) map[string]string
	// Version is the log index of the last change that this view includes.
	Version uint64
	// PostID is the number of the last accepted post.
	PostID uint64
}

// Post is a message on its way through rules and handlers. Each field says who
// writes it; the others only read.
type Post struct {
	List *List
	// Message is edited by handlers, in the order of their table. Rules leave it alone.
	Message *message.Message
	// Sender is the envelope sender; null for reports. Written by the stage.
	Sender mailaddr.Address
	// Target is the address that was meant. Written by the stage.
	Target Target
	// Received is when intake took the post, by the server's clock.
	Received time.Time
	// Size is the length of the message as it came, in octets.
	Size int64
	// Trace names the post in logs.
	Trace string
	// Source says how the post came ("lmtp 192.0.2.1", "pipe"), Host which of our
	// hosts works on it. Written by the stage; for the Received field.
	Source, Host string
	// SiteOwners get mail for the owners of a list that has none. Written by the stage.
	SiteOwners []mailaddr.Address
	// Others gives the roster of another list of this site; ErrNoList if there is none.
	// nil: no other list can be asked. Written by the stage.
	Others func(context.Context, ID) (Roster, error)
	// DMARC tells what domains publish; nil: nobody can tell. Written by the stage.
	DMARC DMARC
	// Authority checks signatures and makes them; nil: nobody does. Written by the stage.
	Authority Authority
	// Template is a text of the site's own by its template's name, with values for the
	// recipients' variables; "" where there is none of its own. nil: there are none. Written
	// by the stage.
	Template func(ctx context.Context, name string, vars map[string]string) (string, error)
	// Checked is what Authority.Check found out, as the value of an
	// Authentication-Results field; "" if it did not check.
	Checked string
	// Recent is how many posts were accepted under a key of rules.RateKeys within the
	// hour; nil: nobody counts. Written by the stage.
	Recent func(key string) int
	// Hits are the rules that have matched so far. Written by chains.Judge.
	Hits []Hit
	// PostID is this post's number, set by the stage before the handlers run.
	PostID uint64
	// Notes are what the handlers have to say about what they did, for the trace.
	Notes []string
	// Topics are the list's topics that the post is about. Written by the handler tagger.
	Topics []string
	// Recipients is written by the handlers member-recipients and avoid-duplicates.
	Recipients []Recipient
	// DigestMembers says that somebody gets digests. Written by the handler
	// member-recipients, which looks at everybody.
	DigestMembers bool
	// Copies is how the recipients' copies differ. Written by the handlers decorate and
	// personalise, and by Authority.Sign.
	Copies Copies
	// Web is the base URL of the site's own pages; "": there are none. Written by the stage.
	Web string
	// Archive and Digest are the copies that go there, as they were when the handlers
	// of these names took them; nil: none.
	Archive, Digest *message.Message
}

// LoopMark is what X-BeenThere says on the copies of the post, and what makes it a
// loop if it is there already: the address that it was sent to.
func (p *Post) LoopMark() string {
	if p.Target.List == Site {
		return string(Site)
	}
	return string(p.Target.List.Address(p.Target.Sub))
}

// RecipientKind says why somebody gets a copy, and so whether they may drop out of
// it later: only a member who has left may.
type RecipientKind string

// The kinds of a recipients file.
const (
	KindMember    RecipientKind = "member"
	KindOwner     RecipientKind = "owner"
	KindNonmember RecipientKind = "nonmember"
	KindNotice    RecipientKind = "notice"
)

// Recipient is one line of a fan-out.
type Recipient struct {
	Kind    RecipientKind
	Member  MemberID // 0 unless Kind is member or owner
	Address mailaddr.Address
}

// Verdict is what the rules decided about a post, and why.
type Verdict struct {
	Action Action
	// Rule is the name of the rule that decided.
	Rule string
	// Reason says it in words, for people.
	Reason string
	// Notice is what a poster who is rejected shall read in its place; empty: Reason.
	Notice string
	Hits   []Hit
	Misses []string
	// Notes are what the handlers added, for the trace.
	Notes []string
}

// String is the verdict on one line, for logs and traces: the rule that decided, why,
// and every rule that had a hit.
func (v Verdict) String() string {
	out := v.Rule
	if v.Reason != "" {
		out += ": " + v.Reason
	}
	if len(v.Hits) > 1 {
		names := make([]string, len(v.Hits))
		for i, h := range v.Hits {
			names[i] = h.Rule
		}
		out += " [" + strings.Join(names, "; ") + "]"
	}
	for _, n := range v.Notes {
		out += "; " + n
	}
	return out
}

// Hit is a rule that matched.
type Hit struct {
	Rule string
	// Reason says in words what it found.
	Reason string
	// Action is set where the rule itself, not its row in the table, says what
	// happens: moderation actions, header matches.
	Action Action
	// Notice is for a poster who is rejected, in place of Reason; empty: Reason.
	Notice string
}
