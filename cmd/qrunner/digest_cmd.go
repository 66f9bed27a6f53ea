package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"qrunner/lists"
	"qrunner/lists/digest"
	"qrunner/lists/store"
)

type digestCmd struct {
	Ls   digestLsCmd   `cmd:"" help:"What waits for the next digest."`
	Peek digestPeekCmd `cmd:"" help:"The digest as it would be sent now."`
	Send digestSendCmd `cmd:"" help:"Send the digest now."`
	Bump digestBumpCmd `cmd:"" help:"Let the next digest begin a new volume, or set its number."`
}

type digestLsCmd struct {
	List string `arg:"" optional:"" help:"Posting address: its posts, one by one; none: every list where posts wait."`
}

// shownDigest is one list in digest ls.
type shownDigest struct {
	List   lists.ID           `json:"list"`
	Volume int                `json:"last_volume"`
	Issue  int                `json:"last_issue"`
	SentAt time.Time          `json:"sent_at,omitzero"`
	Count  int                `json:"posts"`
	Size   int64              `json:"size"`
	Due    time.Time          `json:"due,omitzero"`
	Posts  []store.DigestPost `json:"waiting,omitempty"`
}

func showDigest(st *store.State) shownDigest {
	d := st.Digest()
	out := shownDigest{List: st.ID(), Volume: d.Volume, Issue: d.Issue, SentAt: d.SentAt, Count: len(d.Posts), Size: d.Size}
	if len(d.Posts) > 0 {
		out.Due = digest.Due(st.List().Settings, d.Posts[0].Since)
	}
	return out
}

// Run prints the lists where posts wait, or the posts of one.
func (c *digestLsCmd) Run(ctx context.Context, a *app) error {
	if c.List == "" {
		return a.digests(ctx)
	}
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	out := showDigest(st)
	out.Posts = st.Digest().Posts
	return a.print(out, func(w io.Writer) {
		fmt.Fprintln(w, "POST\tSINCE\tSIZE\tFROM\tSUBJECT")
		for _, p := range out.Posts {
			fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\n", p.N, p.Since.Format(time.RFC3339), p.Size, p.From, p.Subject)
		}
	})
}

// digests prints a line for each list where posts wait.
func (a *app) digests(ctx context.Context) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	ids, err := h.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("list the lists: %w", err)
	}
	out := []shownDigest{}
	for _, id := range ids {
		st, err := h.store.Read(ctx, id)
		if err != nil {
			return fmt.Errorf("read list %s: %w", id, err)
		}
		if d := showDigest(st); d.Count > 0 {
			out = append(out, d)
		}
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintln(w, "LIST\tPOSTS\tSIZE\tDUE\tLAST")
		for _, d := range out {
			due, last := "-", "-"
			if !d.Due.IsZero() {
				due = d.Due.Format(time.RFC3339)
			}
			if d.Volume > 0 {
				last = fmt.Sprintf("%d.%d", d.Volume, d.Issue)
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\n", d.List, d.Count, d.Size, due, last)
		}
	})
}

type digestPeekCmd struct {
	List  string `arg:"" help:"Posting address."`
	Plain bool   `help:"The plain digest (RFC 1153), not the MIME one."`
}

// Run prints the message.
func (c *digestPeekCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	i, err := a.house.stages().Digest(ctx, st, time.Now())
	if err != nil {
		return err
	}
	m := i.MIME()
	if c.Plain {
		m = i.Plain()
	}
	_, err = a.std.out.Write(m.Wire())
	return err
}
