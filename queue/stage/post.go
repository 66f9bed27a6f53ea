package stage

import (
	"bytes"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
)

// post is an entry as rules and handlers see it, parsed anew.
func (c Config) post(w *queue.Work) *lists.Post {
	e := w.Entry
	p := &lists.Post{
		List: w.List, Message: message.Parse(e.Raw), Sender: e.Sender, Target: e.Target,
		Received: e.Received, Size: int64(len(e.Raw)), Trace: e.Trace, Source: e.Source, Host: c.Host,
		Others: c.Others, DMARC: c.DMARC, Authority: c.Authority,
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
	f := &queue.Fanout{List: w.List.ID, Envelope: w.Entry.Envelope, Raw: p.Message.Wire(), PostID: p.PostID, Recipients: p.Recipients}
	header, body, _ := bytes.Cut(f.Raw, []byte("\r\n\r\n"))
	// What MAIL announced on the way in is asked for on the way out only if it is needed.
	f.UTF8 = f.UTF8 && eightBit(header)
	f.EightBit = eightBit(body)
	return f
}

func eightBit(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= 0x80 }) >= 0
}
