package stage

import (
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/queue"
)

// reject tells the poster, if that can be done without answering a machine.
func reject(e *queue.Entry, v lists.Verdict) *queue.Outcome {
	o := &queue.Outcome{Event: "rejected", Reason: reason(v), Verdict: &v}
	m := message.Parse(e.Raw)
	if answerable(e, m) {
		o.Children = []queue.Child{{Entry: rejection(e, m, v.Reason)}}
	}
	return o
}

// answerable: RFC 3834 §2. No report, no automatic message and no list's mail is
// answered.
func answerable(e *queue.Entry, m *message.Message) bool {
	auto, _, _ := strings.Cut(strings.ToLower(m.Get("Auto-Submitted")), ";")
	if e.Sender.Null() || auto != "" && strings.TrimSpace(auto) != "no" || m.Has("List-Id") {
		return false
	}
	switch strings.ToLower(m.Get("Precedence")) {
	case "bulk", "junk", "list":
		return false
	}
	return true
}

// rejection is the notice to the poster. It goes to the envelope sender, from nobody
// (RFC 3834 §3.3); Date and Message-ID come with the stage virgin.
func rejection(e *queue.Entry, m *message.Message, why string) *queue.Entry {
	n := message.Parse([]byte("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"))
	n.Set("From", string(e.List.Address(lists.SubOwner)))
	n.Set("To", string(e.Sender))
	n.Set("Subject", "Your message to "+string(e.List)+" was rejected")
	n.Set("Auto-Submitted", "auto-replied")
	if id := m.MessageID(); id != "" {
		n.Set("In-Reply-To", "<"+id+">")
		n.Set("References", "<"+id+">")
	}
	n.SetBody(fmt.Appendf(nil, "Your message to %s was not distributed.\r\n\r\nReason:  %s\r\nSubject: %s\r\n\r\nQuestions go to %s.\r\n",
		e.List, shown(why), shown(message.DecodeHeader(m.Get("Subject"))), e.List.Address(lists.SubOwner)))
	out := &queue.Entry{Queue: queue.Virgin, List: e.List, Raw: n.Bytes()}
	out.Target = lists.Target{List: e.List, Sub: lists.SubOwner}
	out.Source, out.Trace, out.UTF8 = "internal", e.Trace, !e.Sender.ASCII()
	out.Meta.Recipients = []lists.Recipient{{Kind: lists.KindNotice, Address: e.Sender}}
	return out
}
