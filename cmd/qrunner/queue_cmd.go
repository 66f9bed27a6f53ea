package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/fanout"
	"qrunner/queue/spool"
)

type queueCmd struct {
	Ls   queueLsCmd   `cmd:"" help:"What is in the queues."`
	Show queueShowCmd `cmd:"" help:"One entry."`

	Verify queueVerifyCmd `cmd:"" help:"Read every entry and delivery and say what is damaged, missing or left over."`
	Reseal queueResealCmd `cmd:"" help:"Put an entry that was mended by hand in bad/ back into its queue."`
}

type queueLsCmd struct {
	Queue string `arg:"" optional:"" help:"Only this queue, entry by entry."`
}

// queueRow is one queue of one list.
type queueRow struct {
	Queue   queue.Name `json:"queue"`
	List    lists.ID   `json:"list"`
	Entries int        `json:"entries"`
	Oldest  time.Time  `json:"oldest"`
	Due     time.Time  `json:"due,omitzero"`    // queue retry only
	Cause   string     `json:"cause,omitempty"` // queues out and retry: what is wrong with the smarthost
	IDs     []queue.ID `json:"ids,omitempty"`
}

// Run prints one line for each queue and list with entries, or each entry.
func (c *queueLsCmd) Run(ctx context.Context, a *app) error {
	names := queue.Names
	if c.Queue != "" {
		n, err := queue.ParseName(c.Queue)
		if err != nil {
			return &usageError{err}
		}
		names = []queue.Name{n}
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	rows := []queueRow{}
	for _, q := range names {
		more, err := h.queueRows(ctx, q)
		if err != nil {
			return fmt.Errorf("list queue %s: %w", q, err)
		}
		rows = append(rows, more...)
	}
	if err := h.causes(rows); err != nil {
		return err
	}
	if c.Queue == "" {
		for i := range rows {
			rows[i].IDs = nil
		}
	}
	return a.print(rows, func(w io.Writer) {
		if c.Queue != "" {
			entryTable(w, rows)
			return
		}
		fmt.Fprintln(w, "QUEUE\tLIST\tENTRIES\tOLDEST\tDUE\tCAUSE")
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", r.Queue, r.List, r.Entries, r.Oldest.Format(time.RFC3339), dueText(r.Due), r.Cause)
		}
	})
}

// entryTable prints one line an entry.
func entryTable(w io.Writer, rows []queueRow) {
	fmt.Fprintln(w, "QUEUE\tLIST\tENTRY\tSINCE\tDUE\tCAUSE")
	for _, r := range rows {
		for _, id := range r.IDs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Queue, r.List, id, id.Time().Format(time.RFC3339), dueText(r.Due), r.Cause)
		}
	}
}

func (h *house) queueRows(ctx context.Context, q queue.Name) ([]queueRow, error) {
	if q == queue.Retry {
		return h.retryRows(ctx)
	}
	ids, err := h.spool.Lists(ctx, q)
	if err != nil {
		return nil, err
	}
	var rows []queueRow
	for _, id := range ids {
		entries, err := h.entries(q, id)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			rows = append(rows, queueRow{Queue: q, List: id, Entries: len(entries), Oldest: entries[0].Time(), IDs: entries})
		}
	}
	return rows, nil
}

// causes fills in why deliveries wait, as far as hosts have written down what is wrong
// with the smarthost.
func (h *house) causes(rows []queueRow) error {
	seen, err := fanout.Troubles(h.fs, time.Now())
	if err != nil || len(seen) == 0 {
		return err
	}
	cause := fmt.Sprintf("%s (host %s, since %s)", seen[0].Text, seen[0].Host, seen[0].Since.Format(time.RFC3339))
	for i, r := range rows {
		if r.Queue == queue.Out || r.Queue == queue.Retry {
			rows[i].Cause = cause
		}
	}
	return nil
}

// entries are the names in a list's folder of a queue, files and fan-outs alike.
func (h *house) entries(q queue.Name, list lists.ID) ([]queue.ID, error) {
	all, err := h.fs.ReadDir(spool.Dir(q, list))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []queue.ID
	for _, e := range all {
		if id, err := queue.ParseID(e.Name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

type queueShowCmd struct {
	Queue string `arg:"" help:"Queue."`
	List  string `arg:"" help:"Posting address."`
	ID    string `arg:"" help:"Entry."`
	Raw   bool   `help:"The file as it lies there."`
}

// Run prints an entry: what the queue knows of it, then the message.
func (c *queueShowCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	list, id, err := parseEntry(queue.Name(c.Queue), c.List, c.ID)
	if err != nil {
		return &usageError{err}
	}
	name := path.Join(spool.Dir(queue.Name(c.Queue), list), string(id))
	switch queue.Name(c.Queue) {
	case queue.Retry:
		return a.showWaiting(ctx, h, id)
	case queue.Bad: // its content is what is wrong with it
		return a.showFile(h, name)
	}
	if st, err := h.fs.Stat(name); err == nil && st.Mode.IsDir() {
		return a.showFanout(ctx, h, name, c.Raw)
	}
	e, err := h.spool.Load(ctx, queue.Name(c.Queue), list, id)
	if err != nil {
		return err
	}
	return a.showEntry(e, c.Raw)
}

// parseList reads a list's ID; the site's own is one too.
func parseList(s string) (lists.ID, error) {
	if s == string(lists.Site) {
		return lists.Site, nil
	}
	return lists.ParseID(s)
}

// parseEntry checks the parts of an entry's name.
func parseEntry(q queue.Name, list, id string) (lists.ID, queue.ID, error) {
	_, err1 := queue.ParseName(string(q))
	l, err2 := parseList(list)
	entry, err3 := queue.ParseID(id)
	return l, entry, errors.Join(err1, err2, err3)
}
