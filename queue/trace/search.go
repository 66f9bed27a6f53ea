package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"qrunner/locking/fsys"
)

// Search reads the traces of all hosts and returns the events that match, in order
// of time. Lines that are torn, or of a newer version, are skipped. match may be
// called for every event there is; the Event is its own only until it returns.
func Search(ctx context.Context, f fsys.FS, match func(*Event) bool) ([]Event, error) {
	var out []Event
	err := walk(f, func(name string) error { return searchFile(ctx, f, name, match, &out) })
	if err != nil {
		return nil, fmt.Errorf("search traces: %w", err)
	}
	slices.SortStableFunc(out, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return out, nil
}

// Story is the whole history of the messages that text names: text is a trace id
// or a Message-ID, with or without its angle brackets.
func Story(ctx context.Context, f fsys.FS, text string) ([]Event, error) {
	id := strings.Trim(text, "<> ")
	if id == "" {
		return nil, nil
	}
	traces := map[string]bool{}
	_, err := Search(ctx, f, func(e *Event) bool {
		if e.Trace == id || strings.Trim(e.MessageID, "<> ") == id {
			traces[e.Trace] = true
		}
		return false
	})
	if err != nil || len(traces) == 0 {
		return nil, err
	}
	return Search(ctx, f, func(e *Event) bool { return traces[e.Trace] })
}

// Prune removes the host's own files of days before that of before. Only the host
// itself calls it.
func (l *Log) Prune(ctx context.Context, before time.Time) error {
	dir := path.Join(root, l.c.Host)
	list, err := l.c.FS.ReadDir(dir)
	if fsys.Gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prune traces: %w", err)
	}
	first := before.UTC().Format(dayForm) + suffix
	for _, e := range list {
		if strings.HasSuffix(e.Name, suffix) && e.Name < first {
			err = errors.Join(err, ctx.Err(), fsys.RemoveAny(l.c.FS, path.Join(dir, e.Name)))
		}
	}
	if err != nil {
		return fmt.Errorf("prune traces: %w", err)
	}
	return nil
}

// walk calls visit for each host's files, oldest first.
func walk(f fsys.FS, visit func(name string) error) error {
	hosts, err := f.ReadDir(root)
	if err != nil && !fsys.Gone(err) {
		return err
	}
	for _, h := range hosts {
		dir := path.Join(root, h.Name)
		files, err := f.ReadDir(dir)
		if err != nil && !fsys.Gone(err) {
			return err
		}
		for _, e := range files {
			if !strings.HasSuffix(e.Name, suffix) {
				continue
			}
			if err := visit(path.Join(dir, e.Name)); err != nil && !fsys.Gone(err) {
				return err
			}
		}
	}
	return nil
}

func searchFile(ctx context.Context, f fsys.FS, name string, match func(*Event) bool, out *[]Event) error {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadBytes('\n')
		if e, ok := parse(line); ok && match(&e) {
			*out = append(*out, e)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// parse reads one line; false for one that is torn or empty.
func parse(line []byte) (Event, bool) {
	var e Event
	line = bytes.TrimSpace(line)
	if len(line) == 0 || json.Unmarshal(line, &e) != nil {
		return Event{}, false
	}
	return e, e.Event != ""
}
