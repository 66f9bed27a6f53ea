package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// showFanout prints a delivery: what is sent, to how many, and what its journals say.
func (a *app) showFanout(ctx context.Context, h *house, dir string, raw bool) error {
	fo, rcpts, err := spool.ReadFanout(ctx, h.fs, dir)
	if err != nil {
		return fmt.Errorf("read delivery: %w", err)
	}
	if raw {
		_, err := a.std.out.Write(fo.Raw)
		return err
	}
	files, err := h.fs.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read delivery: %w", err)
	}
	journals := map[string]string{}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, "journal.") {
			continue
		}
		text, err := fsys.ReadFile(h.fs, path.Join(dir, f.Name), maxShown)
		if err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		journals[f.Name] = string(text)
	}
	shown := map[string]any{
		"list": fo.List, "sender": fo.Sender, "trace": fo.Trace, "recipients": rcpts.Len(), "verp": fo.VERP, "journals": journals,
	}
	return a.print(shown, func(w io.Writer) {
		fmt.Fprintf(w, "list\t%s\nsender\t<%s>\ntrace\t%s\nrecipients\t%d\n", fo.List, fo.Sender, fo.Trace, rcpts.Len())
		for _, f := range files {
			if text, ok := journals[f.Name]; ok {
				fmt.Fprintf(w, "\n%s\n%s", f.Name, text)
			}
		}
		fmt.Fprintf(w, "\n%s\n", fo.Raw)
	})
}

// maxShown bounds what is read of a journal or a damaged file for showing.
const maxShown = 64 << 20

// showWaiting finds a delivery in retry/ by its entry's name.
func (a *app) showWaiting(ctx context.Context, h *house, id queue.ID) error {
	rows, err := h.retryRows(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.IDs[0] == id {
			return a.showFanout(ctx, h, path.Join("queue", string(queue.Retry), spool.RetryName(r.Due, id)), false)
		}
	}
	return fmt.Errorf("no delivery %s waits (qrunner queue ls retry)", id)
}

// showFile prints a file of the share as it is, and where it lies.
func (a *app) showFile(h *house, name string) error {
	text, err := fsys.ReadFile(h.fs, name, maxShown)
	if err != nil {
		return fmt.Errorf("read entry: %w", err)
	}
	file := path.Join(h.conf.Var, name)
	return a.print(map[string]string{"file": file, "content": string(text)}, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\n%s", file, text)
	})
}
