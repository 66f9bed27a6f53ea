package lists

import (
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
	// PostID is this post's number, set by the stage before the handlers run.
	PostID uint64
	// Recipients is written by the handlers member-recipients and avoid-duplicates.
	Recipients []Recipient
	// Archive and Digest say that a copy goes there; written by handlers.
	Archive, Digest bool
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
	Hits   []Hit
	Misses []string
}

// Hit is a rule that matched.
type Hit struct {
	Rule   string
	Reason string
}
