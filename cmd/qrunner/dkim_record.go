package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
)

type dkimRecordCmd struct {
	Domain   string `arg:"" optional:"" help:"Only this domain's keys."`
	Selector string `arg:"" optional:"" help:"Only this key."`
}

// shownKey is a key as it is published.
type shownKey struct {
	Domain   string `json:"domain"`
	Selector string `json:"selector"`
	Name     string `json:"name"`
	Record   string `json:"record"`
	Zone     string `json:"zone"`
}

// Run prints a line for a zone file for each key.
func (c *dkimRecordCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	names, err := c.names(ctx, h.auth.keys)
	if err != nil {
		return err
	}
	rows := []shownKey{}
	for _, n := range names {
		s, err := h.auth.keys.Signer(ctx, n)
		if err != nil {
			return err
		}
		row, err := keyRow(s)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		err = fmt.Errorf("dkim keys%s: %w (qrunner dkim keygen makes one)", ofDomain(c.Domain), errNothing)
	}
	return errors.Join(err, a.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintln(w, r.Zone)
		}
	}))
}

func ofDomain(domain string) string {
	if domain == "" {
		return ""
	}
	return " of " + domain
}

// names finds the keys that are meant. One that is named in full need not be listed.
func (c *dkimRecordCmd) names(ctx context.Context, k *keys.Store) ([]keys.Name, error) {
	if c.Selector != "" {
		n, err := keys.ParseName(c.Domain, c.Selector)
		if err != nil {
			return nil, &usageError{err}
		}
		return []keys.Name{n}, nil
	}
	all, err := k.List(ctx)
	if err != nil {
		return nil, err
	}
	var out []keys.Name
	for _, n := range all {
		if c.Domain == "" || strings.EqualFold(n.Domain, c.Domain) {
			out = append(out, n)
		}
	}
	return out, nil
}

func keyRow(s dkim.Signer) (shownKey, error) {
	record, err := dkim.Record(s.Key.Public())
	if err != nil {
		return shownKey{}, err
	}
	return shownKey{
		Domain: s.Domain, Selector: s.Selector, Name: dkim.Name(s.Domain, s.Selector),
		Record: record, Zone: dkim.ZoneLine(s.Domain, s.Selector, record),
	}, nil
}
