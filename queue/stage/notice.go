package stage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
)

// notice is a mail that qrunner writes by itself.
type notice struct {
	to      mailaddr.Address // null: the list's owners and moderators
	replyTo mailaddr.Address // null: the owners
	sender  mailaddr.Address // of the envelope; null: nobody hears of its fate
	subject string
	text    string
	auto    string           // auto-replied or auto-generated (RFC 3834 §5)
	about   *message.Message // what it is an answer to; nil: nothing
	attach  []byte           // a message to attach; nil: none
	ack     string           // X-Ack: no for an answer that wants none itself
	trace   string
}

// answer is a notice to whoever sent a message: it goes to the envelope sender, from
// nobody (RFC 3834 §3.3, §4).
func answer(e *queue.Entry, m *message.Message, subject, text string) notice {
	return notice{to: e.Sender, subject: subject, text: text, auto: "auto-replied", about: m, trace: e.Trace}
}

// entry is the notice in the queue virgin.
func (n notice) entry(list lists.ID) *queue.Entry {
	owner := list.Address(lists.SubOwner)
	m := message.Parse([]byte("MIME-Version: 1.0\r\n\r\n"))
	m.Set("From", string(owner))
	m.Set("To", string(owner))
	if !n.to.Null() {
		m.Set("To", string(n.to))
	}
	if !n.replyTo.Null() {
		m.Set("Reply-To", string(n.replyTo))
	}
	m.Set("Subject", message.EncodeHeader(message.OneLine(n.subject)))
	// One message may be the cause of several notices, so the trace alone is no id.
	sum := sha256.Sum256([]byte(n.trace + "\x00" + string(n.to) + "\x00" + n.subject))
	m.Set("Message-ID", "<"+letters(sum[:])[:26]+"@"+list.Domain()+">")
	m.Set("Auto-Submitted", n.auto)
	m.Set("Precedence", "bulk")
	m.Set("X-Auto-Response-Suppress", "All")
	if n.ack != "" {
		m.Set("X-Ack", n.ack)
	}
	if n.about != nil {
		thread(m, n.about)
	}
	n.fill(m)
	out := &queue.Entry{Queue: queue.Virgin, List: list, Raw: m.Bytes()}
	out.Sender = n.sender
	out.Target = lists.Target{List: list, Sub: lists.SubOwner}
	out.Source, out.Trace, out.UTF8 = "internal", n.trace, !n.to.ASCII()
	if !n.to.Null() {
		out.Meta.Recipients = []lists.Recipient{{Kind: lists.KindNotice, Address: n.to}}
	}
	return out
}

// fill writes the text, and what is attached, into the body.
func (n notice) fill(m *message.Message) {
	const plain = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n"
	text := strings.ReplaceAll(strings.ReplaceAll(n.text, "\r\n", "\n"), "\n", "\r\n")
	if n.attach == nil {
		m.Set("Content-Type", "text/plain; charset=utf-8")
		m.Set("Content-Transfer-Encoding", "8bit")
		m.SetBody([]byte(text))
		return
	}
	sum := sha256.Sum256(append([]byte(text), n.attach...))
	boundary := "=_" + hex.EncodeToString(sum[:16])
	m.Set("Content-Type", `multipart/mixed; boundary="`+boundary+`"`)
	m.Set("Content-Transfer-Encoding", "8bit")
	var b bytes.Buffer
	fmt.Fprintf(&b, "--%s\r\n%s\r\n%s\r\n--%s\r\n", boundary, plain, text, boundary)
	b.WriteString("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\nContent-Disposition: attachment; filename=\"post.eml\"\r\n\r\n")
	b.Write(n.attach)
	fmt.Fprintf(&b, "\r\n--%s--\r\n", boundary)
	m.SetBody(b.Bytes())
}

// mostReferences is how much of a thread's history a notice repeats, in octets.
const mostReferences = 2000

// thread makes n an answer to m (RFC 5322 §3.6.4).
func thread(n, m *message.Message) {
	id := m.MessageID()
	if id == "" {
		return
	}
	n.Set("In-Reply-To", "<"+id+">")
	refs := strings.TrimSpace(m.Get("References"))
	if len(refs) > mostReferences {
		refs = ""
	}
	n.Set("References", strings.TrimSpace(refs+" <"+id+">"))
}
