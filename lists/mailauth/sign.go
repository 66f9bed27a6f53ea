package mailauth

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/message"
)

// Sign implements lists.Authority. Where copies differ, each is signed when it is sent,
// and Sign only says with what. A list whose key cannot be had sends nothing: its domain
// may tell receivers to refuse what is not signed.
func (a *Authority) Sign(ctx context.Context, p *lists.Post) error {
	names, err := signers(p.List)
	if err != nil || len(names) == 0 {
		return err
	}
	checked := ""
	if p.List.Settings.Bool("arc_seal") {
		checked = p.Checked // a post that was not checked is not sealed
	}
	c, err := a.Copier(ctx, names, checked)
	if err != nil {
		return err
	}
	if p.Copies.Differ() {
		p.Copies.Keys, p.Copies.Checked = names, checked
		return nil
	}
	m := message.Parse(p.Message.Wire())
	fields, err := c.Sign(m, canon.BodySum(m.Body(), canon.Relaxed)) // all signatures share the sum
	if err != nil {
		return err
	}
	p.Message = message.Parse(append(fields, m.Bytes()...))
	return nil
}

// signers names the keys that a list signs with, in the order of its setting, by their
// names in the DNS.
func signers(l *lists.List) ([]string, error) {
	domain := l.Settings.Text("dkim_domain")
	if domain == "" {
		if l.ID == lists.Site {
			return nil, nil // it has no domain of its own
		}
		domain = l.ID.Domain()
	}
	var out []string
	for _, selector := range strings.Fields(l.Settings.Text("dkim_selectors")) {
		n, err := keys.ParseName(domain, selector)
		if err != nil {
			return nil, fmt.Errorf("sign: %w: %w", lists.ErrTrouble, err)
		}
		out = append(out, dkim.Name(n.Domain, n.Selector))
	}
	return out, nil
}
