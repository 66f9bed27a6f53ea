package retry

import (
	"regexp"
	"strings"

	"qrunner/queue"
)

// Class is what a reply means for the recipient it was given for.
type Class string

// The classes. Their texts stand in journals: do not change them.
const (
	// Done: the smarthost took the message for this recipient.
	Done Class = "done"
	// Refused: a 5xx at RCPT. Final, unless all others got the same (SameRefusal).
	Refused Class = "refused"
	// Defer: a temporary answer, or the connection ended from RCPT on. It ages.
	Defer Class = "defer"
	// Again: the transaction had too many recipients; this one goes into another at once.
	Again Class = "again"
	// Site: our own smarthost refuses us, or is not there. Temporary, and it does
	// not age: no member is bounced for it.
	Site Class = "site"
	// Message: a 5xx that judges the message. Final, its members are not to blame.
	Message Class = "message"
)

// Facts is what Judge must know besides the reply.
type Facts struct {
	// ASCII says that the recipient's address needs no SMTPUTF8.
	ASCII bool
	// Accepted is how many recipients of the same transaction got a 2xx.
	Accepted int
}

// Judge says what a reply means. A reply that it does not know is Defer.
func Judge(r queue.Reply, f Facts) Class {
	switch {
	case r.Positive():
		return Done
	case r.Code == 0:
		return unanswered(r.Phase)
	case r.Code == 452 && r.Phase == queue.PhaseRcpt && f.Accepted > 0:
		return Again // RFC 5321 §4.5.3.1.10
	case r.Code/100 == 5:
		return permanent(r, f)
	case r.Code/100 == 4 && early(r.Phase):
		return Site
	}
	return Defer
}

// Repeat reports whether the message may have been taken although nobody said so:
// the connection ended behind the final dot. Trying again may make a second copy.
func Repeat(r queue.Reply) bool { return r.Code == 0 && r.Phase == queue.PhaseDot }

// unanswered: what ends before MAIL was answered says nothing about the message.
func unanswered(p queue.Phase) Class {
	if early(p) || p == queue.PhaseMail {
		return Site
	}
	return Defer
}

// early are the phases in which the smarthost has seen nothing of the message.
func early(p queue.Phase) bool {
	switch p {
	case queue.PhaseConnect, queue.PhaseGreeting, queue.PhaseEHLO, queue.PhaseTLS, queue.PhaseAuth:
		return true
	}
	return false
}

func permanent(r queue.Reply, f Facts) Class {
	switch {
	case r.Enhanced == "5.6.7": // RFC 6531 §3.5: SMTPUTF8 is needed and not there
		if f.ASCII {
			return Message // its header is the reason
		}
		return Refused
	case r.Code == 530, r.Code == 535, r.Code == 538, early(r.Phase):
		return Site
	}
	switch r.Phase {
	case queue.PhaseMail:
		if r.Code == 552 || r.Enhanced == "5.3.4" || r.Enhanced == "5.2.3" {
			return Message // RFC 1870 §6.1: too large, today and tomorrow
		}
		return Site
	case queue.PhaseRcpt:
		if r.Code == 552 {
			return Defer // RFC 5321 §4.5.3.1.10: an old way to say 452
		}
		if noRelay(r) {
			return Site
		}
		return Refused
	case queue.PhaseData, queue.PhaseDot:
		return Message
	}
	return Defer
}

// relayWords is how MTAs say that they do not take mail for others from us: Postfix,
// sendmail, Exim and qmail, Exchange.
const relayWords = `(?i)\brelay(ing)?( access)?( is)? (denied|prohibited|not (permitted|allowed|authori[sz]ed))` +
	`|\b(unable|not (permitted|allowed|authori[sz]ed)) to relay\b|isn't in my list of allowed rcpthosts`

// noRelay reports whether the smarthost refuses to be one. That is the site's fault
// even when a single recipient is told so, and nothing can be compared.
func noRelay(r queue.Reply) bool {
	return (r.Enhanced == "" || strings.HasPrefix(r.Enhanced, "5.7.")) && regexp.MustCompile(relayWords).MatchString(r.Text)
}

// Refusal is a 5xx that one recipient got at RCPT.
type Refusal struct {
	Address string
	Reply   queue.Reply
}

// How many recipients must have got the same refusal before it is the site's fault.
// A reply about the address or the mailbox (X.1.x, X.2.x of RFC 3463) can be right
// for a few dead members at once; anything else is a policy of the smarthost.
const (
	sameAddress = 10
	sameOther   = 2
)

// SameRefusal reports whether refusals, all that a range's recipients got (none was
// accepted or told anything else), are one and the same answer, so that the fault
// is the site's: relaying denied, or the smarthost's user tables gone. Addresses
// quoted in the texts do not count as a difference.
func SameRefusal(refusals []Refusal) bool {
	if len(refusals) < sameOther {
		return false
	}
	first := plain(refusals[0])
	if len(refusals) < sameAddress && (strings.HasPrefix(first.Enhanced, "5.1.") || strings.HasPrefix(first.Enhanced, "5.2.")) {
		return false
	}
	for _, r := range refusals[1:] {
		if plain(r) != first {
			return false
		}
	}
	return true
}

// plain takes the recipient's address out of a reply.
func plain(r Refusal) queue.Reply {
	text := strings.ToLower(r.Reply.Text)
	at := strings.LastIndexByte(r.Address, '@')
	for _, s := range []string{r.Address, r.Address[at+1:], r.Address[:max(at, 0)]} {
		if s != "" {
			text = strings.ReplaceAll(text, strings.ToLower(s), "*")
		}
	}
	r.Reply.Text = text
	return r.Reply
}
