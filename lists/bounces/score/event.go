package score

import (
	"strings"
	"time"
	"unicode/utf8"

	"qrunner/lists/bounces"
)

// Kind is how a bounce is weighed.
type Kind string

// The kinds. Their texts stand in logs: do not change them.
const (
	// Hard: the address does not work.
	Hard Kind = "hard"
	// Soft: this copy did not get through, and a mail system has judged so.
	Soft Kind = "soft"
	// Expired: nobody took the copy until the sending host's patience ended.
	Expired Kind = "expired"
	// Policy: the message, its sender or our host was refused. Weighs nothing.
	Policy Kind = "policy"
	// Complaint: somebody called the copy spam. Weighs nothing; Config.Complaint says what
	// follows.
	Complaint Kind = "complaint"
)

// Scored reports whether the kind weighs anything.
func (k Kind) Scored() bool { return k == Hard || k == Soft || k == Expired }

// Storms reports whether bounces of the kind can make a storm: they lead to something.
func (k Kind) Storms() bool { return k.Scored() || k == Complaint }

// Event is one bounce of one member.
type Event struct {
	// At is when it came to us.
	At   time.Time
	Kind Kind
	// Post is the number of the list's last accepted post at that time; of the last digest
	// where the member gets those.
	Post   uint64
	Digest bool
	// Why says it in words: reason, code, what the mail system said.
	Why string
	// Probe: it is a probe that came back.
	Probe bool
	// Ours: the report is about a copy that this list sent, as far as that can be seen. A
	// complaint about anything else is noted only.
	Ours bool
}

// FromResult is the event that a detector's result makes; false if it makes none: a
// success, an automatic answer, a warning that the mail system still tries.
func FromResult(r bounces.Result, at time.Time, post uint64) (Event, bool) {
	e := Event{At: at, Post: post, Why: words(r)}
	switch {
	case r.Class == bounces.Complained:
		e.Kind = Complaint
	case r.Class == bounces.None || !r.Permanent:
		return Event{}, false
	case r.Policy:
		e.Kind = Policy
	case r.Class == bounces.Hard:
		e.Kind = Hard
	case r.Reason == bounces.Expired || strings.HasPrefix(r.Status, "4") || r.Reply/100 == 4:
		e.Kind = Expired
	default:
		e.Kind = Soft
	}
	return e, true
}

// maxWhy bounds Event.Why and Step.Why, in octets.
const maxWhy = 200

func words(r bounces.Result) string {
	out := string(r.Reason)
	if r.Status != "" {
		out += " " + r.Status
	}
	if r.Diagnostic != "" {
		out += ": " + r.Diagnostic
	}
	return clip(out)
}

// clip keeps a text short and on one line, without control characters.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) <= maxWhy {
		return s
	}
	cut := maxWhy - 3
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}
