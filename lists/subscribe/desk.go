package subscribe

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/templates"
)

// Desk is where requests are handed in: a list at one moment, and who stands there.
type Desk struct {
	State *store.State
	// At is the time of the request; what expires, and limits of the day, go by it.
	At time.Time
	// Random gives the bits of tokens.
	Random io.Reader
	// Sender gets the answer. Only he himself is told who is a member; others hear the
	// same in any case. Trusted: who asks may know that anyway (an owner, an operator).
	Sender  mailaddr.Address
	Trusted bool
	// By names who asks, for the log and for moderators.
	By string
	// Trace is that of the mail which asks, if one does.
	Trace string
}

// Ask is a request.
type Ask struct {
	Kind store.PendingKind
	// Address is whom it is about.
	Address mailaddr.Address
	// Name, Mode and Args are what the kind needs to know.
	Name string
	Mode lists.DeliveryMode
	Args map[string]string
	// Verified: it is proven that the owner of the address asks; a policy may still want
	// him to confirm. Confirmed: he has. Approved: the owners agree.
	Verified, Confirmed, Approved bool
}

// Result is what becomes of a request.
type Result struct {
	// Event is one word for the trace: pending, joined, left, set, changed, moderate,
	// invited, refused, discarded, silenced.
	Event string
	// Reason is the same at length, for the log.
	Reason string
	// Said is for whoever asked; empty where silence is wanted.
	Said string
	// Changes belong in one commit.
	Changes []store.Change
	// Notices are sent once that is done.
	Notices []Notice
}

// Notice is a mail that comes of a request.
type Notice struct {
	// To is null for the list's owners and moderators.
	To       mailaddr.Address
	Template templates.Name
	Vars     templates.Vars
	// Lang is what the reader prefers; "": the list's language.
	Lang string
	// Token is what the answer brings back; "": none is wanted.
	Token string
	// Decide: the answer is a moderator's decision, not a confirmation.
	Decide bool
}

// Refusal is why a request is not met, in words for whoever asked.
type Refusal struct{ Why string }

// Error is the reason.
func (e *Refusal) Error() string { return e.Why }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// refused turns a refusal into a result; any other error stays one.
func refused(err error) (Result, error) {
	var r *Refusal
	if !errors.As(err, &r) {
		return Result{}, err
	}
	return Result{Event: "refused", Reason: r.Why, Said: Sentence(r.Why)}, nil
}

// tells reports whether who asks may hear what is known of an address.
func (d Desk) tells(a mailaddr.Address) bool { return d.Trusted || d.Sender.Key() == a.Key() }

func (d Desk) list() *lists.List { return d.State.List() }

func (d Desk) member(a mailaddr.Address) (*lists.Member, bool) {
	return d.list().Roster.Find(lists.RoleMember, a)
}

// after is the desk once changes are made.
func (d Desk) after(cs ...store.Change) (Desk, error) {
	st, err := d.State.With(d.At, cs...)
	d.State = st
	return d, err
}

// pending is a request as it is kept.
func (a Ask) pending(p store.Pending) store.Pending {
	p.Kind, p.Address, p.Name, p.Mode, p.Args = a.Kind, a.Address, a.Name, a.Mode, maps.Clone(a.Args)
	return p
}

// asks is a kept request again.
func asks(p store.Pending) Ask {
	return Ask{Kind: p.Kind, Address: p.Address, Name: p.Name, Mode: p.Mode, Args: maps.Clone(p.Args)}
}

// Describe says in a few words what a request asks for.
func Describe(p store.Pending) string {
	switch p.Kind {
	case store.PendingSet:
		out := "set"
		for _, name := range slices.Sorted(maps.Keys(p.Args)) {
			out += " " + name + " " + p.Args[name]
		}
		return out
	case store.PendingChange:
		if was := p.Args[argOld]; was != "" {
			return "change " + was + " to " + string(p.Address)
		}
		return "change to " + p.Args[argNew]
	case store.PendingOwner:
		return p.Args[ArgCommand]
	}
	return string(p.Kind)
}

// ArgCommand is the argument of an owner's request that has the command in words.
const ArgCommand = "command"

// Language is what an address reads, if it is a member's who has said so.
func Language(l *lists.List, a mailaddr.Address) string {
	if m, ok := l.Roster.Find(lists.RoleMember, a); ok {
		return l.Language(m)
	}
	return ""
}
