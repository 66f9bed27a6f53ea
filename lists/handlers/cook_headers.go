package handlers

import (
	"context"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
)

// once are the fields that RFC 5322 §3.6 (and MIME) allow once: receivers refuse mail
// with two of them, or pick another one than the rules looked at.
var once = []string{
	"Date", "From", "Sender", "Reply-To", "Message-ID", "In-Reply-To", "References", "Subject",
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// cookHeaders adds the loop mark; those of other lists stay.
func cookHeaders(_ context.Context, p *lists.Post) error {
	complete(p)
	p.Message.Add("X-BeenThere", p.LoopMark())
	if !p.Message.Has("Precedence") {
		p.Message.Add("Precedence", "list")
	}
	return nil
}

// cookOwner marks mail to the owners with their address, not the list's: a post that
// somebody sends on to the owners has been on the list, and that is no loop.
func cookOwner(_ context.Context, p *lists.Post) error {
	complete(p)
	p.Message.Add("X-BeenThere", p.LoopMark())
	return nil
}

func cookNotice(_ context.Context, p *lists.Post) error {
	complete(p)
	if !p.Message.Has("Precedence") {
		p.Message.Add("Precedence", "bulk")
	}
	if p.List.ID != lists.Site && !p.Message.Has("List-Id") {
		p.Message.Add("List-Id", listID(p.List))
	}
	return nil
}

// complete makes the header what RFC 5322 §3.6 asks for: nothing twice that may be
// there once (the first stays; of To and Cc all become one), a date, a message id.
func complete(p *lists.Post) {
	var seen []string
	p.Message.DelFunc(func(f message.Field) bool {
		name := strings.ToLower(f.Name)
		if slices.Contains(seen, name) {
			return true
		}
		if oneOf(name, once) {
			seen = append(seen, name)
		}
		return false
	})
	for _, name := range []string{"To", "Cc"} {
		if vs := p.Message.All(name); len(vs) > 1 { // nobody addressed gets lost
			p.Message.Set(name, strings.Join(vs, ", "))
		}
	}
	if !p.Message.Has("Date") {
		p.Message.Add("Date", p.Received.UTC().Format(time.RFC1123Z))
	}
	if p.Message.MessageID() == "" {
		p.Message.Set("Message-ID", ownID(p))
	}
}
