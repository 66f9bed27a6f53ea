package queue

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// Phase says how far an SMTP dialogue had come.
type Phase string

// The phases, in order. A fault before PhaseMail concerns the smarthost; from
// PhaseMail on it concerns the message in hand as well.
const (
	PhaseConnect  Phase = "connect"
	PhaseGreeting Phase = "greeting"
	PhaseEHLO     Phase = "ehlo"
	PhaseTLS      Phase = "starttls"
	PhaseAuth     Phase = "auth"
	PhaseMail     Phase = "mail"
	PhaseRcpt     Phase = "rcpt"
	PhaseData     Phase = "data" // the answer to DATA
	PhaseDot      Phase = "dot"  // the answer to the final dot; without one, the outcome is unknown
)

// Reply is what the smarthost said of one recipient. Code 0 means that the
// connection ended, or its time ran out, in that phase without an answer.
type Reply struct {
	Code     int
	Enhanced string // "5.1.1"; empty if none was given
	Text     string // one line; several joined by " / "
	Phase    Phase
}

// Positive reports a 2yz answer to the final dot.
func (r Reply) Positive() bool { return r.Code/100 == 2 && r.Phase == PhaseDot }

// String is the reply as it stands in logs and reports.
func (r Reply) String() string {
	if r.Code == 0 {
		return fmt.Sprintf("no answer in phase %s: %s", r.Phase, r.Text)
	}
	if r.Enhanced == "" {
		return fmt.Sprintf("%d %s", r.Code, r.Text)
	}
	return fmt.Sprintf("%d %s %s", r.Code, r.Enhanced, r.Text)
}

// Transaction is one MAIL...final dot: one message to one or more recipients.
type Transaction struct {
	Sender     mailaddr.Address // null allowed
	Recipients []mailaddr.Address
	// Raw is the message with CRLF line ends, not dot-stuffed.
	Raw []byte
	// XVERP leaves it to the smarthost to make the recipients' envelope senders out of
	// Sender, as mailaddr.ReadableVERP does: only for recipients for whom that can. A
	// connection to a smarthost that lacks it sends each a copy by itself.
	XVERP bool
	// UTF8 asks for SMTPUTF8; where the smarthost lacks it, each recipient is
	// answered 550 5.6.7 in phase mail without being tried (RFC 6531 §3.2).
	UTF8 bool
}

// Copier makes the copies of a fan-out that differ. Any goroutine may use it.
type Copier interface {
	// Copy makes the message for one recipient, with CRLF line ends. It is good until
	// the next call with the same scratch, which the caller keeps for nothing else.
	Copy(scratch *[]byte, r lists.Recipient) ([]byte, error)
}

// Conn is one connection to the smarthost, used by one goroutine at a time.
type Conn interface {
	// Send runs one transaction and returns one Reply per recipient, in order.
	// It always returns; a connection that broke says so by Broken.
	Send(ctx context.Context, t *Transaction) []Reply
	// Broken reports that no further transaction can be run.
	Broken() bool
	// Release gives the connection back to its pool (or closes it if broken).
	Release()
}

// Transport hands out connections to the smarthost.
type Transport interface {
	// Acquire returns a connection that is ready for MAIL, reused or new. It waits
	// while the pool is at its limit, and fails with *SiteError if the smarthost
	// cannot be reached or refuses us before MAIL, or while the breaker is open.
	Acquire(ctx context.Context) (Conn, error)
	// MaxRecipients is how many recipients one transaction may have, >= 1.
	MaxRecipients() int
}

// VERPTransport is a Transport that knows of smarthosts with Postfix's XVERP.
type VERPTransport interface {
	Transport
	// XVERP reports whether it is to be used and the last connection offered it.
	XVERP() bool
}

// SiteError is a fault of our own smarthost or of the way to it: temporary, never
// a member's bounce.
type SiteError struct {
	Host  string
	Phase Phase
	Reply Reply // zero if there was none
	Err   error
	// RetryAfter is how long an Acquire is known to fail (the breaker is open), 0
	// if that is not known.
	RetryAfter time.Duration
}

// Error names the host, if it is known, the phase and what was said.
func (e *SiteError) Error() string {
	said := e.Reply.String()
	switch {
	case e.Err != nil:
		said = e.Err.Error()
	case e.Reply.Code == 0: // in this phase, as is said below
		said = cmp.Or(e.Reply.Text, "no answer")
	}
	return fmt.Sprintf("%s, %s: %s", strings.TrimSpace("smarthost "+e.Host), e.Phase, said)
}

// Unwrap gives the network's error.
func (e *SiteError) Unwrap() error { return e.Err }
