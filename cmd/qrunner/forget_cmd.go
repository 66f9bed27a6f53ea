package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"qrunner/lists/archive"
	"qrunner/lists/erase"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
)

type memberForgetCmd struct {
	Address string `arg:"" help:"Address."`
	Posts   string `help:"Archived posts of the address: hide the address and the name in them, or remove them." enum:"hide,remove" default:"hide"`
	Yes     bool   `help:"Do not ask."`
}

// Run takes an address off every roster, out of settings, requests, bounces, held posts
// and digests, and then writes over it in what is kept of the past: the lists' logs,
// archives, traces. Afterwards it searches the share again and says what is left, such as
// mail that is on its way: the status is 1 then.
func (c *memberForgetCmd) Run(ctx context.Context, a *app) error {
	who, err := parseAddress(c.Address)
	if err != nil {
		return err
	}
	if !c.Yes {
		return &usageError{fmt.Errorf("this takes %s off all lists, and out of logs and archives, for good: say --yes", who)}
	}
	words := erase.Address(who)
	return a.forget(ctx, &forgetting{
		note: "member forget", words: words, held: true,
		naming: func(st *store.State) []store.Change { return st.Naming(who, words.Hide) },
		gone: func(m *message.Message) bool {
			from := m.Addresses("From")
			return c.Posts == "remove" && len(from) > 0 && from[0].Key() == who.Key()
		},
	})
}

type archiveRmCmd struct {
	List string `arg:"" help:"Posting address."`
	ID   string `arg:"" help:"The post's Message-ID." placeholder:"MESSAGE-ID"`
	Yes  bool   `help:"Do not ask."`
}

// Run removes a post from a list's archive, and from the digest that it waits for, and
// writes over its Message-ID wherever else that stands: in the lists' logs, in traces, in
// answers that refer to it. What is left is said, as by member forget.
func (c *archiveRmCmd) Run(ctx context.Context, a *app) error {
	id, err := parseList(c.List)
	if err != nil {
		return err
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	msgid := strings.Trim(c.ID, "<> ")
	if !strings.Contains(msgid, "@") || len(msgid) < 3 {
		return &usageError{fmt.Errorf("%q is no Message-ID", c.ID)}
	}
	there, err := archive.Find(ctx, h.fs, id, msgid)
	if err != nil {
		return fmt.Errorf("search archive of %s: %w", id, err)
	}
	if len(there) == 0 {
		return fmt.Errorf("post %s in the archive of %s: %w", c.ID, id, errNothing)
	}
	if !c.Yes {
		return &usageError{fmt.Errorf("this removes %s from the archive of %s for good: say --yes", count(len(there), "post"), id)}
	}
	return a.forget(ctx, &forgetting{
		note: "archive rm", words: erase.MessageID(msgid),
		gone: func(m *message.Message) bool { return m.MessageID() == msgid },
	})
}

// forget runs and says what was done.
func (a *app) forget(ctx context.Context, f *forgetting) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	p := newProgress(a.std.err, "files searched", 0)
	n := 0
	f.h, f.seen = h, func() { n++; p.set(n) }
	err = f.run(ctx)
	p.end()
	perr := a.print(f.done, func(w io.Writer) {
		for _, id := range f.done.Lists {
			fmt.Fprintf(w, "list\t%s\n", id)
		}
		for _, name := range f.done.Removed {
			fmt.Fprintf(w, "removed\t%s\n", name)
		}
		for _, name := range f.done.Hidden {
			fmt.Fprintf(w, "hidden in\t%s\n", name)
		}
		for _, name := range f.done.Left {
			fmt.Fprintf(w, "LEFT IN\t%s\t%s\n", name, leftBecause(name))
		}
	})
	switch {
	case err != nil || perr != nil:
		return errors.Join(err, perr)
	case len(f.done.Left) > 0:
		return errSilent
	case len(f.done.Lists)+len(f.done.Removed)+len(f.done.Hidden) == 0:
		return fmt.Errorf("%s: %w", f.note, errNothing)
	}
	return nil
}

// leftBecause says why a file still has what was to be forgotten, and what to do.
func leftBecause(name string) string {
	switch part := strings.Split(name, "/"); {
	case part[0] == "queue" && len(part) > 1 && (part[1] == "shunt" || part[1] == "bad"):
		return "parked mail: drop it or replay it (qrunner shunt), then run this again"
	case part[0] == "queue":
		return "mail on its way: run this again when it is gone"
	case len(part) > 3 && part[0] == "lists" && part[2] == "held":
		return "a held post of somebody else: decide about it (qrunner held), then run this again"
	case part[0] == "trace":
		return "a trace that was written meanwhile: run this again"
	}
	return "run this again; if it stays, look at the file"
}

// putAgain writes a post that waits for a digest under a new name.
func putAgain(f fsys.FS, dir string, p store.DigestPost, raw []byte) (store.DigestPost, error) {
	sum := sha256.Sum256(raw)
	number, _, _ := strings.Cut(p.ID, ".")
	p.ID, p.Sum, p.Size = number+"."+strings.ToLower(rand.Text()[:10]), hex.EncodeToString(sum[:]), int64(len(raw))
	err := fsys.WriteNew(f, path.Join(dir, p.ID), func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if err == nil {
		err = fsys.SyncDir(f, dir)
	}
	if err != nil {
		return p, fmt.Errorf("write post for digest: %w", err)
	}
	return p, nil
}
