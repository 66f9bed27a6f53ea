package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// dmarc puts the list into From where receivers would refuse what the list makes of the
// post: the author's domain publishes a DMARC policy, and nothing that the list changes
// has the domain's signature any more. A domain that cannot be asked about counts as
// one with a policy: rewritten mail arrives, refused mail makes members bounce.
func dmarc(ctx context.Context, p *lists.Post) error {
	action := p.List.Settings.Text("dmarc_mitigate_action")
	rewrites := action == "munge_from" || action == "wrap_message"
	if anonymous(p) || !rewrites && !untouched(p) {
		return nil
	}
	var authors []message.Mailbox
	for _, b := range p.Message.Mailboxes("From") {
		if !b.Address.Null() {
			authors = append(authors, b)
		}
	}
	if len(authors) == 0 || holds(ctx, p, authors) {
		return nil
	}
	why, err := mitigates(ctx, p, authors)
	if err != nil || why == "" {
		return err
	}
	if untouched(p) {
		why += ", and no valid signature of the author's is on the post"
		p.Message.Protect(nil) // what is protected holds no more
	}
	p.Notes = append(p.Notes, action+": "+why)
	if !rewrites {
		return nil
	}
	if action == "wrap_message" {
		wrapMessage(p)
	}
	mungeFrom(p, authors)
	return nil
}

// mitigates says why any author's mail needs it; "": none does.
func mitigates(ctx context.Context, p *lists.Post, authors []message.Mailbox) (string, error) {
	if p.List.Settings.Bool("dmarc_mitigate_unconditionally") {
		return "dmarc_mitigate_unconditionally", nil
	}
	patterns, err := p.List.Settings.Patterns("dmarc_addresses")
	if err != nil {
		return "", err
	}
	for _, a := range authors {
		for _, pattern := range patterns {
			if pattern.Match(a.Address) {
				return string(a.Address) + " is in dmarc_addresses", nil
			}
		}
	}
	if p.DMARC == nil {
		return "", nil
	}
	for _, a := range authors {
		policy, err := p.DMARC.Policy(ctx, a.Address.Domain())
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil:
			return "the DMARC policy of " + a.Address.Domain() + " could not be found out", nil
		case policy == lists.DMARCQuarantine, policy == lists.DMARCReject:
			return "the domain " + a.Address.Domain() + " publishes a DMARC policy of " + string(policy), nil
		}
	}
	return "", nil
}

// mungeFrom makes From "Anne via Ant <posting address>". The authors stay within reach
// of an answer: in Reply-To, or in Cc where Reply-To goes to the list.
func mungeFrom(p *lists.Post, authors []message.Mailbox) {
	m, list := p.Message, p.List.ID.Posting()
	name := authorName(p.List, authors[0]) + " via " + displayName(p.List)
	m.Set("From", message.EncodePhrase(name)+" <"+string(list)+">")
	into := "Reply-To"
	if p.List.Settings.Text("reply_goes_to_list") != "no_munging" || names(m, into, list) {
		into = "Cc"
	}
	var add []string
	for _, a := range authors {
		if !names(m, into, a.Address) {
			add = append(add, mailbox(a))
		}
	}
	if len(add) == 0 {
		return
	}
	if old := strings.TrimRight(strings.Join(m.All(into), ", "), ", "); old != "" {
		add = append([]string{old}, add...)
	}
	m.Set(into, strings.Join(add, ", "))
}

// authorName is what people call an author: the name in From, or that of the member, or
// what stands before the @. An address in a name looks like a forgery to receivers, so
// its domain goes.
func authorName(l *lists.List, b message.Mailbox) string {
	name := strings.TrimSpace(message.OneLine(b.Name))
	if name == "" {
		if member, ok := l.Roster.Find(lists.RoleMember, b.Address); ok {
			name = strings.TrimSpace(member.Name)
		}
	}
	if name == "" {
		name = string(b.Address)
	}
	words := strings.Fields(name)
	for i, w := range words {
		if local, domain, ok := strings.Cut(strings.Trim(w, "<>"), "@"); ok && local != "" && strings.Contains(domain, ".") {
			words[i] = local
		}
	}
	return strings.Join(words, " ")
}

// mailbox writes an address with its name.
func mailbox(b message.Mailbox) string {
	name := strings.TrimSpace(message.OneLine(b.Name))
	if name == "" {
		return string(b.Address)
	}
	return message.EncodePhrase(name) + " <" + string(b.Address) + ">"
}

// names reports whether a field names an address.
func names(m *message.Message, field string, a mailaddr.Address) bool {
	for _, b := range m.Addresses(field) {
		if b.Key() == a.Key() {
			return true
		}
	}
	return false
}
