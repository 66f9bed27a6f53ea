package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// Verify reads every delivery in out/, retry/ and shunt/, message, recipients, journals
// and marks, and says what is wrong. It changes nothing and takes no lock; what moves
// under its eyes is not reported. An error is a trouble of the share.
func Verify(ctx context.Context, f fsys.FS) ([]store.Finding, error) {
	first, err := verifyOnce(ctx, f)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := verifyOnce(ctx, f)
	return store.SeenTwice(first, second), err
}

func verifyOnce(ctx context.Context, f fsys.FS) (found []store.Finding, err error) {
	dirs := []string{}
	for _, q := range []queue.Name{queue.Out, queue.Shunt} {
		top, err := folders(f, "queue/"+string(q))
		if err != nil {
			return nil, err
		}
		for _, list := range top {
			below, err := folders(f, list)
			if err != nil {
				return nil, err
			}
			dirs = append(dirs, below...)
		}
	}
	waiting, err := folders(f, "queue/"+string(queue.Retry))
	if err != nil {
		return nil, err
	}
	for _, dir := range append(dirs, waiting...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := verifyFolder(ctx, f, dir)
		if err != nil {
			return nil, fmt.Errorf("verify delivery %s: %w", dir, err)
		}
		found = append(found, more...)
	}
	return found, nil
}

// folders are the folders in a folder, from the share's root.
func folders(f fsys.FS, dir string) (out []string, err error) {
	all, err := f.ReadDir(dir)
	if err != nil && !fsys.Gone(err) {
		return nil, err
	}
	for _, e := range all {
		if e.Type.IsDir() {
			out = append(out, path.Join(dir, e.Name))
		}
	}
	return out, nil
}

func verifyFolder(ctx context.Context, f fsys.FS, dir string) (found []store.Finding, err error) {
	list := lists.ID(path.Base(path.Dir(dir)))
	add := func(name string, kind store.FindingKind, text string) {
		found = append(found, store.Finding{List: list, File: path.Join(dir, name), Kind: kind, Text: text})
	}
	name := path.Base(dir)
	if path.Dir(dir) == "queue/"+string(queue.Retry) {
		var id queue.ID
		list = ""
		_, id, err = spool.ParseRetryName(name)
		name = string(id)
	}
	if _, ierr := queue.ParseID(name); err != nil || ierr != nil {
		add("", store.Odd, "not a delivery's name; take it away by hand")
		return found, nil
	}
	all, err := f.ReadDir(dir)
	if err != nil {
		return nil, gone(err)
	}
	if newView(all).finished { // on its way out
		return nil, nil
	}
	fo, rcpts, err := spool.ReadFanout(ctx, f, dir)
	if err == nil {
		list = fo.List
		_, err = rcpts.Range(ctx, 0, rcpts.Len())
	}
	var bad *spool.CorruptError
	switch {
	case errors.As(err, &bad):
		add(strings.TrimPrefix(bad.Name, dir+"/"), store.Damaged, bad.Why+"; restore it from a backup")
	case errors.Is(err, spool.ErrNewer):
		add(spool.MessageFile, store.Newer, err.Error()+": upgrade qrunner")
	case fsys.Gone(err):
		for _, n := range []string{spool.MessageFile, spool.RecipientsFile} {
			if _, there := fsys.Find(all, n); !there {
				add(n, store.Missing, "a delivery cannot be without it; restore it from a backup")
			}
		}
	case err != nil:
		return nil, err
	}
	return found, verifyJournals(f, dir, all, add)
}

// verifyJournals reads journals and marks. A torn end is what a crash leaves, or an owner
// that writes this moment.
func verifyJournals(f fsys.FS, dir string, all []fsys.DirEntry, add func(name string, kind store.FindingKind, text string)) error {
	v := newView(all)
	for rng, ns := range v.journals {
		for i := range ns {
			if n := i + 1; !slices.Contains(ns, n) {
				add(journalName(rng, n), store.Missing, "a later journal of the range is there; who had his copy by it is not known")
			}
		}
	}
	for _, e := range all {
		journal := strings.HasPrefix(e.Name, journalStem)
		if !journal && !strings.HasPrefix(e.Name, roundPrefix) {
			continue
		}
		data, err := fsys.ReadFile(f, path.Join(dir, e.Name), maxJournal)
		if err != nil {
			if gone(err) == nil {
				continue
			}
			return err
		}
		if end := bytes.LastIndexByte(data, '\n'); journal {
			data = data[:end+1]
		}
		if records, lines := parseJournal(data); lines > 0 || !journal && len(records) == 0 {
			add(e.Name, store.Damaged, fmt.Sprintf("%d lines are not what was written; who had his copy by them is not known", max(lines, 1)))
		}
	}
	return nil
}

// gone takes away the error of what has moved on.
func gone(err error) error {
	if fsys.Gone(err) {
		return nil
	}
	return err
}
