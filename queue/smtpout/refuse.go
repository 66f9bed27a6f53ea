package smtpout

import (
	"fmt"
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// refuse settles the recipients who cannot be served with what the server announced,
// and reports whether any are left.
func (x *transaction) refuse() bool {
	switch {
	case broken(x.t.Sender):
		x.settle(queue.Reply{Code: 553, Enhanced: "5.1.7", Phase: queue.PhaseMail, Text: "sender is no mail address"})
	case x.ext.limit > 0 && x.body.size > x.ext.limit:
		x.settle(queue.Reply{Code: 552, Enhanced: "5.3.4", Phase: queue.PhaseMail,
			Text: fmt.Sprintf("message of %d octets is over the smarthost's limit of %d", x.body.size, x.ext.limit)})
	case !x.ext.utf8 && (x.t.UTF8 || !x.t.Sender.ASCII()):
		x.settle(noUTF8())
	}
	x.utf8 = x.ext.utf8 && (x.t.UTF8 || !x.t.Sender.ASCII())
	left := 0
	for i, rcpt := range x.t.Recipients {
		r := &x.replies[i]
		switch {
		case r.Phase != "":
			continue
		case broken(rcpt) || rcpt.Null():
			*r = queue.Reply{Code: 553, Enhanced: "5.1.3", Phase: queue.PhaseRcpt, Text: "recipient is no mail address"}
			continue
		case !rcpt.ASCII() && !x.ext.utf8:
			*r = noUTF8()
			continue
		case !rcpt.ASCII():
			x.utf8 = true
		}
		left++
	}
	if left < len(x.replies) {
		x.todo = x.todo[:0:0]
		for i := range x.replies {
			if x.replies[i].Phase == "" {
				x.todo = append(x.todo, i)
			}
		}
	}
	return left > 0
}

func noUTF8() queue.Reply {
	return queue.Reply{Code: 550, Enhanced: "5.6.7", Phase: queue.PhaseMail, Text: "the smarthost lacks SMTPUTF8"}
}

// broken: the address would end its command early. ParseX lets none pass; what was
// not made by it must not become a command of somebody else's.
func broken(a mailaddr.Address) bool { return strings.ContainsAny(string(a), "\r\n\x00") }
