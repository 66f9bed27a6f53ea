package stage

import (
	"bytes"
	"context"
	"slices"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// post is an entry as rules and handlers see it, parsed anew.
func (c Config) post(w *queue.Work) *lists.Post {
	e := w.Entry
	p := &lists.Post{
		List: w.List, Message: message.Parse(e.Raw), Sender: e.Sender, Target: e.Target,
		Received: e.Received, Size: int64(len(e.Raw)), Trace: e.Trace, Source: e.Source, Host: c.Host,
		Others: c.Others, DMARC: c.DMARC, Authority: c.Authority, Web: c.Web,
	}
	if c.Templates != nil {
		p.Template = func(ctx context.Context, name string, vars map[string]string) (string, error) {
			t, err := c.Templates.Render(ctx, w.List, templates.Name(name), "", vars)
			if err != nil || t.Found.Scope == templates.BuiltinScope {
				return "", err
			}
			return t.Body, nil
		}
	}
	if w.State != nil {
		p.Recent = func(key string) int { return w.State.Count(key, e.Received) }
	}
	if !c.SiteOwner.Null() {
		p.SiteOwners = []mailaddr.Address{c.SiteOwner}
	}
	return p
}

// fanout is the post on its way to its recipients.
func fanout(w *queue.Work, p *lists.Post) *queue.Fanout {
	f := &queue.Fanout{List: w.List.ID, Envelope: w.Entry.Envelope, PostID: p.PostID, Recipients: p.Recipients, Copies: p.Copies}
	f.Raw, f.Copies.Gaps = wire(p.Message, p.Copies.Gaps)
	header, body, _ := bytes.Cut(f.Raw, []byte("\r\n\r\n"))
	// What MAIL announced on the way in is asked for on the way out only if it is needed.
	f.UTF8 = f.UTF8 && eightBit(header)
	f.EightBit = eightBit(body)
	return f
}

// wire is a message as it goes to an SMTP server, and where its gaps are then.
func wire(m *message.Message, gaps []lists.Gap) ([]byte, []lists.Gap) {
	if len(gaps) == 0 {
		return m.Wire(), gaps
	}
	body, header := m.Body(), m.Clone()
	header.SetBody(nil)
	raw := header.Wire()
	start, at := len(raw), 0
	gaps = slices.Clone(gaps)
	for i, g := range gaps {
		raw = message.AppendLines(raw, body[at:g.At])
		at, gaps[i].At = g.At, len(raw)-start
	}
	return message.AppendLines(raw, body[at:]), gaps
}

func eightBit(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= 0x80 }) >= 0
}
