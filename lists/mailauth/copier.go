package mailauth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailauth/arc"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/message"
	"qrunner/locking/clock"
)

// Copier signs messages with the same keys: the copies of a post that differ. Any
// goroutine may use it.
type Copier struct {
	signers []dkim.Signer
	found   authres.Results // what to seal with; no results: no seal
	now     clock.Clock
}

// Copier makes one for keys by their names in the DNS (lists.Copies.Keys). checked is
// lists.Copies.Checked. A key that cannot be had is lists.ErrTrouble.
func (a *Authority) Copier(ctx context.Context, names []string, checked string) (*Copier, error) {
	c := &Copier{now: a.now}
	for _, name := range names {
		selector, domain, ok := strings.Cut(name, "._domainkey.")
		if !ok {
			return nil, fmt.Errorf("sign: %w: %q names no key", lists.ErrTrouble, name)
		}
		n, err := keys.ParseName(domain, selector)
		if err != nil {
			return nil, fmt.Errorf("sign: %w: %w", lists.ErrTrouble, err)
		}
		s, err := a.keys.Signer(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("sign: %w: %w", lists.ErrTrouble, err)
		}
		c.signers = append(c.signers, s)
	}
	if found, err := authres.Parse(checked); err == nil {
		c.found = found
	}
	return c, nil
}

// Signs reports whether there is a key at all.
func (c *Copier) Signs() bool { return len(c.signers) > 0 }

// Sign makes the fields to put before all others of a message in its wire form, octet for
// octet. body is the sum of its body in the relaxed form: copies with one body share it.
func (c *Copier) Sign(m *message.Message, body canon.Sum) ([]byte, error) {
	var out []byte
	fields := make([]message.Field, 0, len(c.signers)+len(m.Fields()))
	for _, s := range c.signers {
		f, err := s.Sign(m, body, c.now())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", lists.ErrTrouble, err)
		}
		out, fields = append(out, f.Raw...), append(fields, f)
	}
	i := slices.IndexFunc(c.found.Results, func(r authres.Result) bool { return r.Method == "arc" })
	if i < 0 || !c.Signs() {
		return out, nil
	}
	// Last of all a set of ARC, over our signatures too. The state of the chain is what
	// Check found when the post was as it came.
	m = onTop(m, fields)
	set, err := arc.Seal(m, body, arc.Sealing{
		Signer: c.signers[0], Verdict: arc.Verdict{Status: c.found.Results[i].Value},
		Results: c.found, Names: arc.Names(m), At: c.now(),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lists.ErrTrouble, err)
	}
	var seal []byte
	for _, f := range set {
		seal = append(seal, f.Raw...)
	}
	return append(seal, out...), nil
}

// onTop puts fields, octet for octet, before all others.
func onTop(m *message.Message, fields []message.Field) *message.Message {
	if len(fields) == 0 {
		return m
	}
	var raw []byte
	for _, f := range fields {
		raw = append(raw, f.Raw...)
	}
	return message.Parse(append(raw, m.Bytes()...))
}
