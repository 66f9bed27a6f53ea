package main

import (
	"context"
	"fmt"
	"io"
	"path"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

type queueResealCmd struct {
	List string `arg:"" help:"Posting address."`
	ID   string `arg:"" help:"Entry in bad/, which you have mended with an editor."`
}

// Run computes length and checksum of a mended entry anew and puts it back into its
// queue under a new name. What lay in bad/ stays there, with .resealed behind its name.
func (c *queueResealCmd) Run(ctx context.Context, a *app) error {
	list, id, err := parseEntry(queue.Bad, c.List, c.ID)
	if err != nil {
		return &usageError{err}
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	name := path.Join(spool.Dir(queue.Bad, list), string(id))
	e, err := h.reseal(list, name)
	if err != nil {
		return fmt.Errorf("reseal %s: %w", name, err)
	}
	if err := h.fs.Rename(name, name+".resealed"); err != nil {
		return fmt.Errorf("set %s aside: %w", name, err)
	}
	e.ID = ""
	put, err := h.spool.Put(ctx, e)
	if err != nil {
		return fmt.Errorf("put the entry back (it lies in %s.resealed): %w", name, err)
	}
	return a.print(e, func(w io.Writer) { fmt.Fprintf(w, "%s is in queue %s as %s\n", id, e.Queue, put) })
}

func (h *house) reseal(list lists.ID, name string) (*queue.Entry, error) {
	data, err := fsys.ReadFile(h.fs, name, 2*int64(h.conf.Limits.MessageSize))
	if err != nil {
		return nil, err
	}
	if data, err = spool.Reseal(data); err != nil {
		return nil, err
	}
	e, err := spool.Decode(data)
	if err != nil {
		return nil, err
	}
	if e.List != list {
		return nil, fmt.Errorf("the entry is of list %s", e.List)
	}
	return e, nil
}
