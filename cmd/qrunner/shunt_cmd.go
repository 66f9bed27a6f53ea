package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/spool"
)

type shuntCmd struct {
	Ls     shuntLsCmd     `cmd:"" help:"What is parked, and why."`
	Why    shuntWhyCmd    `cmd:"" help:"Everything known of one parked message."`
	Replay shuntReplayCmd `cmd:"" help:"Put messages back into the queue they came from."`
	Drop   shuntDropCmd   `cmd:"" help:"Throw messages away."`
}

// shuntRow is a parked entry.
type shuntRow struct {
	List   lists.ID   `json:"list"`
	ID     queue.ID   `json:"id"`
	From   queue.Name `json:"from"`
	Count  int        `json:"count"`
	First  time.Time  `json:"first,omitzero"`
	Last   time.Time  `json:"last,omitzero"`
	Sender string     `json:"sender"`
	Trace  string     `json:"trace"`
	Cause  string     `json:"cause"`
}

// shuntRow tells what is known of a parked entry or fan-out. One that is damaged has a
// row all the same; an error means that it is not there, or trouble of the share.
func (h *house) shuntRow(ctx context.Context, list lists.ID, id queue.ID) (shuntRow, error) {
	name := path.Join(spool.Dir(queue.Shunt, list), string(id))
	st, err := h.fs.Stat(name)
	if err != nil {
		return shuntRow{}, err
	}
	r := shuntRow{List: list, ID: id, First: id.Time(), Last: st.Mtime}
	if st.Mode.IsDir() {
		return h.shuntedFanout(ctx, name, r)
	}
	e, err := h.spool.Load(ctx, queue.Shunt, list, id)
	if errors.As(err, new(*spool.CorruptError)) || errors.Is(err, spool.ErrNewer) {
		r.Cause = "unreadable: " + err.Error()
		return r, nil
	}
	if err != nil {
		return shuntRow{}, err
	}
	m := e.Meta
	return shuntRow{list, id, m.From, m.Count, m.First, m.Last, e.Sender.String(), e.Trace, m.Cause}, nil
}

// shuntedFanout completes the row of the fan-out in the folder dir: the cause from its
// mark, the rest from its message as far as that can be read.
func (h *house) shuntedFanout(ctx context.Context, dir string, r shuntRow) (shuntRow, error) {
	p, err := fanout.ReadParked(h.fs, r.List, r.ID)
	if err != nil {
		return shuntRow{}, err
	}
	r.From, r.Count, r.Cause = queue.Out, p.Round, p.Cause
	fo, _, err := spool.ReadFanout(ctx, h.fs, dir)
	if fo != nil {
		r.Sender, r.Trace = fo.Sender.String(), fo.Trace
	}
	switch {
	case r.Cause != "":
	case err != nil:
		r.Cause = "unreadable: " + err.Error()
	default:
		r.Cause = "nothing in it says why: see the trace"
	}
	return r, nil
}

type shuntLsCmd struct{}

// Run prints one line for each parked message.
func (c *shuntLsCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	rows := []shuntRow{}
	ids, err := h.spool.Lists(ctx, queue.Shunt)
	if err != nil {
		return err
	}
	for _, id := range ids {
		entries, err := h.entries(queue.Shunt, id)
		if err != nil {
			return err
		}
		for _, eid := range entries {
			r, err := h.shuntRow(ctx, id, eid)
			if errors.Is(err, fs.ErrNotExist) {
				continue // settled meanwhile
			}
			if err != nil {
				r = shuntRow{List: id, ID: eid, Cause: "unreadable: " + err.Error()}
			}
			rows = append(rows, r)
		}
	}
	return a.print(rows, func(w io.Writer) {
		fmt.Fprintln(w, "LIST\tID\tQUEUE\tTRIES\tLAST\tSENDER\tCAUSE")
		for _, r := range rows {
			cause, _, _ := strings.Cut(r.Cause, "\n")
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.List, r.ID, cmp.Or(string(r.From), "-"), r.Count, when(r.Last), cmp.Or(r.Sender, "-"), cause)
		}
	})
}

type shuntWhyCmd struct {
	List string `arg:"" help:"Posting address."`
	ID   string `arg:"" help:"Parked entry."`
}

// Run prints the cause with its stack, and the message's history.
func (c *shuntWhyCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	list, id, err := parseEntry(queue.Shunt, c.List, c.ID)
	if err != nil {
		return &usageError{err}
	}
	r, err := h.shuntRow(ctx, list, id)
	if err != nil {
		return fmt.Errorf("read shunted entry: %w", err)
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "list\t%s\nfrom queue\t%s\ntries\t%d\nfirst\t%s\nlast\t%s\nsender\t%s\n", r.List, cmp.Or(string(r.From), "-"), r.Count,
			when(r.First), when(r.Last), cmp.Or(r.Sender, "-"))
		if r.Trace != "" {
			fmt.Fprintf(w, "trace\t%s\t(qrunner trace %s)\n", r.Trace, r.Trace)
		}
		fmt.Fprintf(w, "\n%s\n", r.Cause)
	})
}

type shuntReplayCmd struct {
	List string   `arg:"" help:"Posting address."`
	ID   []string `arg:"" optional:"" help:"Parked entries."`
	All  bool     `help:"All of the list."`
}

// Run gives each entry a new name in the queue it came from.
func (c *shuntReplayCmd) Run(ctx context.Context, a *app) error {
	return a.settleShunt(ctx, shunted{c.List, c.ID, c.All, "replayed", true})
}

type shuntDropCmd struct {
	List string   `arg:"" help:"Posting address."`
	ID   []string `arg:"" optional:"" help:"Parked entries."`
	All  bool     `help:"All of the list."`
}

// Run removes entries for good.
func (c *shuntDropCmd) Run(ctx context.Context, a *app) error {
	return a.settleShunt(ctx, shunted{c.List, c.ID, c.All, "dropped", false})
}

// shunted says which parked entries are meant and what happens to them.
type shunted struct {
	list   string
	ids    []string
	all    bool
	verb   string
	replay bool
}

func (a *app) settleShunt(ctx context.Context, s shunted) error {
	if len(s.ids) == 0 && !s.all {
		return &usageError{fmt.Errorf("name parked entries, or say --all")}
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	if s.all {
		list, err := parseList(s.list)
		if err != nil {
			return &usageError{err}
		}
		ids, err := h.entries(queue.Shunt, list)
		if err != nil {
			return err
		}
		for _, id := range ids {
			s.ids = append(s.ids, string(id))
		}
	}
	n, err := a.moveShunted(ctx, h, s)
	if err != nil {
		return err
	}
	return a.print(map[string]int{s.verb: n}, func(w io.Writer) { fmt.Fprintf(w, "%d %s\n", n, s.verb) })
}
