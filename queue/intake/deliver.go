package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/queue"
)

// Exit statuses of the pipe target, out of sysexits.h. There are no others: Postfix,
// Exim and sendmail agree on 75 only as "try again", and bounce most of the rest.
const (
	ExitStored  = 0
	ExitData    = 65 // the message is over a limit
	ExitNoList  = 67
	ExitTryLate = 75
)

// DeliverArgs is what the MTA said to the pipe target beside the message.
type DeliverArgs struct {
	// Sender is the value of -f; nil if it was not given. Without it the sender is
	// looked for in SENDER, a Return-Path field at the top, and an mbox line.
	// MAILER-DAEMON without a domain is the null sender.
	Sender *string
	// Words is what stands behind the options: recipient addresses, or Mailman's
	// old alias form, a word and a list ("post ant", "request ant@example.com").
	// Empty: the recipient is in ORIGINAL_RECIPIENT or RECIPIENT.
	Words []string
	// Env looks a variable up, as os.LookupEnv does.
	Env func(string) (string, bool)
}

// Deliver stores the message on stdin for the recipients in a. It returns nil when
// it is durable; ExitStatus knows what any error means to an MTA. Several recipients
// share one outcome: if they differ, the whole is temporary.
func (in *Intake) Deliver(ctx context.Context, a DeliverArgs, stdin io.Reader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	b := in.newBody(0)
	defer b.free()
	head, err := readPipe(stdin, b)
	if err != nil {
		return err
	}
	sender, err := in.sender(a, head)
	if err != nil {
		return err
	}
	targets, err := in.recipients(ctx, a)
	if err != nil {
		return err
	}
	b.headOf(targets)
	if err := b.err(); err != nil {
		return err
	}
	env := queue.Envelope{
		Sender: sender, Source: "pipe", Trace: newTrace(),
		UTF8: !sender.ASCII() || !allASCII(targets), EightBit: eightBit(b.raw),
	}
	in.accept(ctx, env, targets, b.raw, func(_ int, e error) { err = errors.Join(err, e) })
	return err
}

// ExitStatus says with which status the pipe target ends, and what it prints before:
// nothing, or a line that begins with an enhanced status code, which Postfix reads.
func ExitStatus(err error) (status int, line string) {
	if err == nil {
		return ExitStored, ""
	}
	r := replyOf(err)
	line = r.status()
	if why := beside(r, err); why != "" {
		line += ": " + why
	}
	line = oneLine(line)
	switch {
	case r == errNoList:
		return ExitNoList, line
	case r.code >= 500:
		return ExitData, line
	}
	return ExitTryLate, line
}

func allASCII(targets []lists.Target) bool {
	for _, t := range targets {
		if !t.Address().ASCII() {
			return false
		}
	}
	return true
}

func eightBit(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}
