package main

import (
	"context"
	"fmt"
	"io"

	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
)

type dkimCmd struct {
	Keygen dkimKeygenCmd `cmd:"" help:"Make a key on the share."`
	Record dkimRecordCmd `cmd:"" help:"The DNS records of the keys."`
}

type dkimKeygenCmd struct {
	Domain   string `arg:"" help:"The domain that signs."`
	Selector string `arg:"" help:"Name of the key in the DNS. A new key needs a new one."`
	Alg      string `help:"rsa (2048 bits, which everybody verifies) or ed25519." enum:"rsa,ed25519" default:"rsa"`
}

// Run makes a key and prints what to publish. Nothing signs with it before a setting
// names its selector.
func (c *dkimKeygenCmd) Run(ctx context.Context, a *app) error {
	n, err := keys.ParseName(c.Domain, c.Selector)
	if err != nil {
		return &usageError{err}
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	alg := dkim.RSA
	if c.Alg == "ed25519" {
		alg = dkim.Ed25519
	}
	s, err := h.auth.keys.Add(ctx, n, alg)
	if err != nil {
		return err
	}
	row, err := keyRow(s)
	if err != nil {
		return err
	}
	return a.print(row, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\nPublish this, wait until it is seen everywhere, then set dkim_selectors to %s.\n", row.Zone, row.Selector)
	})
}
