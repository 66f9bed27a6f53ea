package main

import (
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/archive"
)

type archCmd struct {
	Export archiveExportCmd `cmd:"" help:"Write a list's archive as an mbox."`
	Rm     archiveRmCmd     `cmd:"" help:"Remove a post for good."`
}

type archiveExportCmd struct {
	List string `arg:"" help:"Posting address."`
	Mbox bool   `help:"As an mbox: the only format so far, and the default." default:"true"`
}

// Run writes all months to standard output, oldest first.
func (c *archiveExportCmd) Run(ctx context.Context, a *app) error {
	id, err := lists.ParseID(c.List)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := archive.ExportMbox(ctx, h.fs, id, a.std.out); err != nil {
		return fmt.Errorf("export archive of %s: %w", id, err)
	}
	return nil
}
