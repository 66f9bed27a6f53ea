package mailauth

import (
	"context"
	"fmt"
	"slices"

	"qrunner/lists"
	"qrunner/lists/mailauth/arc"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/message"
)

// Sign implements lists.Authority. A list whose key cannot be had sends nothing: its
// domain may tell receivers to refuse what is not signed.
func (a *Authority) Sign(ctx context.Context, p *lists.Post) error {
	signers, err := a.signers(ctx, p.List)
	if err != nil || len(signers) == 0 {
		return err
	}
	m := message.Parse(p.Message.Wire())
	sum := canon.BodySum(m.Body(), canon.Relaxed) // all signatures share it
	var fields []message.Field
	for _, s := range signers {
		f, err := s.Sign(m, sum, a.now())
		if err != nil {
			return fmt.Errorf("%w: %w", lists.ErrTrouble, err)
		}
		fields = append(fields, f)
	}
	m = onTop(m, fields)
	if p.List.Settings.Bool("arc_seal") {
		if m, err = a.seal(p, m, sum, signers[0]); err != nil {
			return err
		}
	}
	p.Message = m
	return nil
}

// seal adds a set of ARC, last of all. The state of the chain is what Check found when
// the post was as it came; a post that was not checked is not sealed.
func (a *Authority) seal(p *lists.Post, m *message.Message, sum canon.Sum, s dkim.Signer) (*message.Message, error) {
	found, err := authres.Parse(p.Checked)
	i := slices.IndexFunc(found.Results, func(r authres.Result) bool { return r.Method == "arc" })
	if err != nil || i < 0 {
		return m, nil
	}
	fields, err := arc.Seal(m, sum, arc.Sealing{
		Signer: s, Verdict: arc.Verdict{Status: found.Results[i].Value},
		Results: found, Names: arc.Names(m), At: a.now(),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lists.ErrTrouble, err)
	}
	return onTop(m, fields), nil
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
