package handlers

import (
	"cmp"
	"net/mail"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
)

// impersonal are the fields that stay on posts to an anonymous list; all others go, for
// nobody knows what each mailer and server writes into its own. Content-* stay too.
var impersonal = []string{
	"Auto-Submitted", "Cc", "Date", "Importance", "In-Reply-To", "Keywords", "MIME-Version", "Precedence", "Priority", "References",
	"Sensitivity", "Subject", "To", "X-Archive", "X-BeenThere", "X-Content-Filtered-By", "X-Mailman-Approved-At", "X-Mailman-Rule-Hits",
	"X-Mailman-Rule-Misses", "X-No-Archive", "X-Priority", "X-Spam-Flag", "X-Spam-Level", "X-Spam-Score", "X-Topics",
}

// anonymise takes everything from the header that tells who wrote the post: the list is
// in From, the Message-ID is ours, times are in UTC, and To, Cc and References do not
// name the author or the author's host.
func anonymise(p *lists.Post) {
	m, l := p.Message, p.List
	authors := map[string]bool{p.Sender.Key(): true}
	for _, a := range m.Addresses("From", "Sender", "Reply-To", "Resent-From", "Resent-Sender") {
		authors[a.Key()] = true
	}
	m.DelFunc(func(f message.Field) bool {
		return !oneOf(f.Name, impersonal) && !strings.HasPrefix(strings.ToLower(f.Name), "content-")
	})
	for _, name := range []string{"To", "Cc"} {
		setMailboxes(m, name, slices.DeleteFunc(m.Mailboxes(name), func(b message.Mailbox) bool { return authors[b.Address.Key()] }))
	}
	for _, name := range []string{"In-Reply-To", "References"} {
		setIDs(m, name, ownIDs(m.Get(name), l.ID.Domain()))
	}
	if v := m.Get("Date"); v != "" {
		at, err := mail.ParseDate(v)
		if err != nil {
			at = p.Received
		}
		m.Set("Date", at.UTC().Format(time.RFC1123Z))
	}
	list := message.Mailbox{Name: cmp.Or(l.Settings.Text("description"), displayName(l)), Address: l.ID.Posting()}
	m.Set("From", mailbox(list))
	m.Set("Reply-To", string(list.Address))
	m.Set("Message-ID", ownID(p))
	p.Checked = "" // names the author's domain; without it nothing is sealed
}

// ownIDs are the message ids in a field that the list itself made.
func ownIDs(value, domain string) []string {
	var out []string
	for value != "" {
		_, rest, ok := strings.Cut(value, "<")
		if !ok {
			break
		}
		var id string
		id, value, _ = strings.Cut(rest, ">")
		if strings.HasSuffix(strings.ToLower(id), "@"+domain) && !strings.ContainsAny(id, " \t") {
			out = append(out, "<"+id+">")
		}
	}
	return out
}

func setIDs(m *message.Message, name string, ids []string) {
	if len(ids) == 0 {
		m.Del(name)
		return
	}
	m.Set(name, strings.Join(ids, " "))
}

// ownID is a message id made from the trace, so that every copy and every try has the
// same one.
func ownID(p *lists.Post) string {
	domain := p.List.ID.Domain()
	if p.List.ID == lists.Site {
		domain = p.Host
	}
	return "<" + p.Trace + "@" + domain + ">"
}

// anonymous reports whether the post's copies must not tell who wrote it.
func anonymous(p *lists.Post) bool {
	return p.Target.Sub == lists.SubPost && p.List.Settings.Bool("anonymous_list")
}
