package main

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// retryRows are the fan-outs that wait, with the time that each is due.
func (h *house) retryRows(ctx context.Context) ([]queueRow, error) {
	dir := path.Join("queue", string(queue.Retry))
	all, err := h.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing ever waited
	}
	if err != nil {
		return nil, err
	}
	var rows []queueRow
	for _, e := range all {
		due, id, err := spool.ParseRetryName(e.Name)
		if err != nil {
			continue
		}
		row := queueRow{Queue: queue.Retry, Entries: 1, Oldest: id.Time(), IDs: []queue.ID{id}, Due: due}
		fo, _, err := spool.ReadFanout(ctx, h.fs, path.Join(dir, e.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // on its way back to out
		case err == nil:
			row.List = fo.List
		default:
			row.List = lists.ID("?")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// dueText is when a fan-out is tried again.
func dueText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
