package smtpout

import (
	"errors"
	"fmt"
	"os"
	"time"

	"qrunner/queue"
)

// window bounds the commands that are sent ahead of their answers. It must fit into
// any socket's send buffer: a client that blocks in a write while the server blocks
// in its answers never wakes (RFC 2920 §3.1).
const window = 16 << 10

// The steps of an envelope: RSET if the last transaction was left open, MAIL, one
// RCPT per recipient, and DATA after them.
const (
	stepReset = -1
	stepMail  = 0
)

// closing is a 421: the server is about to close, whatever it was asked.
type closing struct{ queue.Reply }

func (c closing) Error() string { return c.Reply.String() }

// transaction is one Send. A recipient is settled once its reply has a phase.
type transaction struct {
	*session
	t       *queue.Transaction
	body    *body
	replies []queue.Reply
	todo    []int // the recipients to try; nil for all

	utf8     bool
	answered bool // MAIL was, so the host works
	noMail   bool // MAIL was refused
	goAhead  bool // 354
	accepted int
	phase    queue.Phase // what is being waited for
}

// run has the dialogue. An error means that the connection is of no more use; who
// is not settled then has the outcome of x.phase.
func (x *transaction) run() error {
	x.phase = queue.PhaseMail
	if !x.quiet() {
		return fmt.Errorf("%w: text that nobody asked for", errNotSMTP)
	}
	if err := x.envelope(); err != nil {
		return err
	}
	switch {
	case x.goAhead && x.accepted > 0:
		return x.message()
	case x.goAhead:
		// Nobody is left to send to, but the server waits for a message.
		_, err := x.ask(x.c.Timeouts.Dot, ".")
		return err
	default:
		x.reset = !x.noMail
		return nil
	}
}

// envelope sends MAIL, RCPT and DATA, as many at once as the server allows, and
// stops where it is clear that nobody gets the message.
func (x *transaction) envelope() error {
	next, data := stepMail, x.count()+1
	if x.reset {
		next = stepReset
	}
	for next <= data && !x.noMail && (next < data || x.accepted > 0) {
		from := next
		for next <= data && len(x.out) < window && (next == from || x.ext.pipelining) {
			x.put(next, data)
			next++
		}
		if err := x.flush(x.c.Timeouts.Mail); err != nil {
			return err
		}
		for step := from; step < next; step++ {
			if err := x.take(step, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// put gathers the command of a step.
func (x *transaction) put(step, data int) {
	switch step {
	case stepReset:
		x.command("RSET")
	case stepMail:
		x.mail()
	case data:
		x.command("DATA")
	default:
		x.command("RCPT TO:<", string(x.t.Recipients[x.index(step-1)]), ">")
	}
}

func (x *transaction) mail() {
	x.out = append(append(append(x.out, "MAIL FROM:<"...), x.t.Sender...), '>')
	if x.ext.size {
		x.param("SIZE", x.body.size)
	}
	if x.body.eight && x.ext.eightBit {
		x.out = append(x.out, " BODY=8BITMIME"...)
	}
	if x.utf8 {
		x.out = append(x.out, " SMTPUTF8"...)
	}
	if x.t.XVERP {
		x.out = append(x.out, " XVERP=+="...)
	}
	x.command()
}

// take reads the answer to a step.
func (x *transaction) take(step, data int) error {
	phase, wait := queue.PhaseRcpt, x.c.Timeouts.Rcpt
	switch step {
	case stepReset, stepMail:
		phase, wait = queue.PhaseMail, x.c.Timeouts.Mail
	case data:
		phase, wait = queue.PhaseData, x.c.Timeouts.Data
	}
	x.phase = phase
	a, err := x.next(wait)
	if err != nil {
		return err
	}
	switch {
	case step == stepReset && a.ok():
		x.reset = false
	case step == stepMail && (a.ok() || a.refused()):
		x.answered, x.noMail = true, a.refused()
		if x.noMail {
			x.settle(a.reply(phase))
		}
	case x.noMail && step < data: // follows from MAIL's
	case step > stepMail && step < data && a.ok():
		x.accepted++
	case step > stepMail && step < data && a.refused():
		x.replies[x.index(step-1)] = a.reply(phase)
	case step == data && a.code == 354:
		x.goAhead = true
	case step == data && a.refused():
		x.settle(a.reply(phase))
	default:
		return fmt.Errorf("%w: %s", errNotSMTP, a.reply(phase))
	}
	return nil
}

// next is one answer; a 421 becomes an error.
func (x *transaction) next(wait time.Duration) (answer, error) {
	a, err := x.answer(wait)
	if err == nil && a.code == 421 {
		err = closing{a.reply(x.phase)}
	}
	return a, err
}

// message sends the message and reads the one answer for all who were accepted.
func (x *transaction) message() error {
	whole, err := x.send(x.body.wire(x.t.Raw), x.body.end, x.c.Timeouts.Block)
	if whole {
		x.phase = queue.PhaseDot
	}
	if err != nil {
		x.parting(err)
		return err
	}
	a, err := x.next(x.c.Timeouts.Dot)
	if err != nil {
		return err
	}
	if !a.ok() && !a.refused() {
		return fmt.Errorf("%w: %s", errNotSMTP, a.reply(x.phase))
	}
	x.settle(a.reply(x.phase))
	return nil
}

// parting looks whether the server said why before it hung up on the message: a 552
// is worth knowing, or the message would be tried for days.
func (x *transaction) parting(err error) {
	if x.ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	if a, err := x.answer(time.Second); err == nil && a.refused() {
		x.settle(a.reply(queue.PhaseDot))
	}
}

// fail settles the rest with what became of the connection.
func (x *transaction) fail(err error) {
	r := queue.Reply{Phase: x.phase, Text: printable([]byte(err.Error()))}
	if c, ok := errors.AsType[closing](err); ok {
		r = c.Reply
	}
	x.settle(r)
}

// settle gives r to every recipient without a reply.
func (x *transaction) settle(r queue.Reply) {
	for i := range x.replies {
		if x.replies[i].Phase == "" {
			x.replies[i] = r
		}
	}
}

func (x *transaction) count() int {
	if x.todo != nil {
		return len(x.todo)
	}
	return len(x.t.Recipients)
}

func (x *transaction) index(k int) int {
	if x.todo != nil {
		return x.todo[k]
	}
	return k
}
