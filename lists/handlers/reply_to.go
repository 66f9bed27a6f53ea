package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// replyTo makes answers go where the list's settings want them: the list's own address
// first, then where the author wants them, the list last. Where nothing has to change the
// author's field stays as it is, octet for octet.
func replyTo(_ context.Context, p *lists.Post) error {
	m, set := p.Message, p.List.Settings
	explicit, _ := mailaddr.Parse(set.Text("reply_to_address"))
	goes := set.Text("reply_goes_to_list")
	if strings.HasPrefix(goes, "explicit_header") && explicit.Null() {
		goes = "no_munging"
	}
	strip := set.Bool("first_strip_reply_to") || goes == "explicit_header_only"
	var to []message.Mailbox
	if strings.HasPrefix(goes, "explicit_header") {
		to = append(to, message.Mailbox{Address: explicit})
	}
	if !strip {
		to = append(to, m.Mailboxes("Reply-To")...)
	}
	if goes == "point_to_list" {
		to = append(to, message.Mailbox{Name: p.List.Settings.Text("description"), Address: p.List.ID.Posting()})
	}
	if strip || goes != "no_munging" {
		setMailboxes(m, "Reply-To", to)
	}
	return nil
}

// setMailboxes writes an address field with each address once; without any, the field
// goes. A field that names the same already stays as it is.
func setMailboxes(m *message.Message, name string, boxes []message.Mailbox) {
	var keys, texts, old []string
	seen := map[string]bool{}
	for _, b := range boxes {
		if k := b.Address.Key(); !b.Address.Null() && !seen[k] {
			seen[k] = true
			keys, texts = append(keys, k), append(texts, mailbox(b))
		}
	}
	for _, a := range m.Addresses(name) {
		old = append(old, a.Key())
	}
	switch {
	case len(keys) == 0:
		m.Del(name)
	case strings.Join(keys, ",") != strings.Join(old, ",") || len(m.All(name)) != 1:
		m.Set(name, strings.Join(texts, ", "))
	}
}
