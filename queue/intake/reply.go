package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/emersion/go-smtp"

	"qrunner/locking/fsys"
)

// reply is an answer of our own choosing: the only kind of error that is ever told
// to a client with its own code. Code 250 says that all went well.
type reply struct {
	code     int
	enhanced [3]int // RFC 3463
	text     string // one line of ASCII
}

// Error is the answer as it stands in logs.
func (r *reply) Error() string { return fmt.Sprintf("%d %s", r.code, r.status()) }

// status is the line that Postfix reads from a pipe's output.
func (r *reply) status() string {
	return fmt.Sprintf("%d.%d.%d %s", r.enhanced[0], r.enhanced[1], r.enhanced[2], r.text)
}

// The answers. Those of class 5 are final: each is the client's or the message's
// doing, none can be brought about by a fault of ours.
var (
	errNoList    = &reply{550, [3]int{5, 1, 1}, "no such list here"}
	errRecipient = &reply{501, [3]int{5, 1, 3}, "bad recipient address"}
	errSender    = &reply{501, [3]int{5, 1, 7}, "bad sender address"}
	errTooBig    = &reply{552, [3]int{5, 3, 4}, "message too big"}
	errLine      = &reply{500, [3]int{5, 6, 0}, "a line of the message is too long"}
	errNested    = &reply{503, [3]int{5, 5, 1}, "nested MAIL"}
	errOneTarget = &reply{452, [3]int{4, 5, 3}, "one list per transaction, send the others separately"}
	errSpace     = &reply{452, [3]int{4, 3, 1}, "no space left, try again later"}
	errBusy      = &reply{452, [3]int{4, 3, 1}, "too much mail at the same time, try again later"}
	errCut       = &reply{451, [3]int{4, 4, 2}, "message was cut off or came too slowly"}
	errStopping  = &reply{451, [3]int{4, 3, 2}, "shutting down, try again later"}
	errUsage     = &reply{451, [3]int{4, 3, 5}, "bad arguments or configuration"}
	errTrouble   = &reply{451, [3]int{4, 3, 0}, "temporary trouble here, try again later"}
)

// replyOf is the one adapter between errors and answers: what is no reply is
// temporary, whatever its type says.
func replyOf(err error) *reply {
	var r *reply
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errSpace
	case errors.Is(err, context.Canceled):
		return errStopping
	}
	return errTrouble
}

// beside is what an error says that its answer does not say already; "" if nothing.
func beside(r *reply, err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), r.Error()), ": ")
}

// smtpError is what go-smtp has to be handed: it looks for this very type, without
// unwrapping, and turns all else into a permanent 554.
func (r *reply) smtpError() *smtp.SMTPError {
	return &smtp.SMTPError{Code: r.code, EnhancedCode: r.enhanced, Message: oneLine(r.text)}
}

// doubtful reports whether an error speaks of trouble, so that whatever else it
// says cannot be relied on.
func doubtful(err error) bool {
	return fsys.Trouble(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// oneLine makes text fit for a reply line or a pipe's status line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 300)]
}
