package stage

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// acknowledge tells an author who wants that, that the post is on its way to the
// members.
func (c Config) acknowledge(ctx context.Context, w *queue.Work, o *queue.Outcome) error {
	m := message.Parse(w.Entry.Raw)
	from := m.Addresses("From")
	if len(from) != 1 || strings.EqualFold(strings.TrimSpace(m.Get("X-Ack")), "no") {
		return nil
	}
	author, ok := w.List.Roster.Find(lists.RoleMember, from[0])
	if !ok || !w.List.PrefBool(author, "acknowledge_posts") {
		return nil
	}
	subject, text, err := c.says(ctx, w.List, templates.UserPost, w.List.Language(author), templates.Vars{
		"subject": subject(m), "user_email": string(author.Address),
	})
	if err != nil {
		return err
	}
	n := answer(w.Entry, m, subject, text)
	n.to = author.Address
	reply(w, o, n)
	return nil
}

// says is a template's subject and text for somebody who reads lang ("": the list's
// language).
func (c Config) says(ctx context.Context, l *lists.List, name templates.Name, lang string, vars templates.Vars) (subject, text string, err error) {
	t, err := c.withTemplates().Templates.Render(ctx, l, name, lang, vars)
	return t.Subject, t.Body, err
}

// reads is the language of an address, if that is a member's who has named one.
func reads(l *lists.List, a mailaddr.Address) string {
	if m, ok := l.Roster.Find(lists.RoleMember, a); ok {
		return l.Language(m)
	}
	return ""
}
