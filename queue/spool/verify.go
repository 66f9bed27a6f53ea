package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// young is how long what nothing names may be on its way.
const young = 25 * time.Hour

// verifier goes through the queues.
type verifier struct {
	s     *Spool
	state func(context.Context, lists.ID) (*store.State, error)
	found []store.Finding
}

// Verify reads every entry below queue/ (deliveries, which are folders, are
// fanout.Verify's) and says what is wrong: checksums, names, entries of lists that are not
// there, staged children that are not what the log names, and what nobody will pick up.
// state is store.Store.Read. It changes nothing and takes no lock; what moves under its
// eyes is not reported. An error is a trouble of the share.
func (s *Spool) Verify(ctx context.Context, state func(context.Context, lists.ID) (*store.State, error)) ([]store.Finding, error) {
	return s.twice(func(v *verifier) error {
		v.state = state
		for _, q := range queue.Names {
			if slices.Contains([]queue.Name{queue.Out, queue.Retry, queue.Bad}, q) {
				continue // bad/ is for people
			}
			if err := v.queue(ctx, q); err != nil {
				return fmt.Errorf("verify queue %s: %w", q, err)
			}
		}
		if err := v.stages(ctx); err != nil {
			return fmt.Errorf("verify stage: %w", err)
		}
		return v.temps()
	})
}

// twice looks twice where the first look finds something: a daemon may be at work.
func (s *Spool) twice(look func(*verifier) error) ([]store.Finding, error) {
	first := &verifier{s: s}
	if err := look(first); err != nil || len(first.found) == 0 {
		return nil, err
	}
	second := &verifier{s: s}
	err := look(second)
	return store.SeenTwice(first.found, second.found), err
}

func (v *verifier) add(list lists.ID, file string, kind store.FindingKind, text string, remedy store.Remedy) {
	v.found = append(v.found, store.Finding{List: list, File: file, Kind: kind, Text: text, Remedy: remedy})
}

// list is a folder's listing; one that is not there is empty.
func (v *verifier) list(dir string) ([]fsys.DirEntry, error) {
	all, err := v.s.c.FS.ReadDir(dir)
	if fsys.Gone(err) {
		return nil, nil
	}
	return slices.DeleteFunc(all, func(e fsys.DirEntry) bool { return strings.HasPrefix(e.Name, ".nfs") }), err
}

// eachList calls f for the folders of lists in a queue's folder.
func (v *verifier) eachList(dir string, f func(lists.ID) error) error {
	all, err := v.list(dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		id, err := parseList(e.Name)
		if err != nil || string(id) != e.Name || e.Type != 0 && !e.Type.IsDir() {
			v.add("", path.Join(dir, e.Name), store.Odd, "not a list's folder; take it away by hand", "")
			continue
		}
		if err := f(id); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) queue(ctx context.Context, q queue.Name) error {
	return v.eachList(path.Join(root, string(q)), func(id lists.ID) error {
		all, err := v.list(Dir(q, id))
		if err != nil || len(all) == 0 {
			return err
		}
		if _, err := v.state(ctx, id); errors.Is(err, lists.ErrNoList) && q != queue.Shunt {
			v.add(id, Dir(q, id), store.Orphan, "there is no such list; a daemon moves this to shunt", "")
		}
		for _, e := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if e.Type.IsDir() && q == queue.Shunt {
				continue // a delivery
			}
			if err := v.entry(ctx, q, id, e.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// entry reads one entry.
func (v *verifier) entry(ctx context.Context, q queue.Name, id lists.ID, name string) error {
	file := path.Join(Dir(q, id), name)
	e, err := v.s.Load(ctx, q, id, queue.ID(name))
	var bad *CorruptError
	switch {
	case errors.As(err, &bad):
		v.add(id, file, store.Damaged, bad.Why, store.ToBad)
	case errors.Is(err, ErrNewer):
		v.add(id, file, store.Newer, err.Error()+": upgrade qrunner", "")
	case fsys.Gone(err):
	case err != nil:
		return err
	case q == queue.Shunt && (e.Meta.Cause == "" || e.Meta.From == ""):
		v.add(id, file, store.Damaged, "does not say why it is here, or where it came from", "")
	}
	return nil
}

// stages looks at what waits to be published: of open hand-overs, and of nobody.
func (v *verifier) stages(ctx context.Context) error {
	dir := path.Join(root, "stage")
	return v.eachList(dir, func(id lists.ID) error {
		all, err := v.list(path.Join(dir, string(id)))
		if err != nil || len(all) == 0 {
			return err
		}
		open := map[string][]store.Placed{}
		st, err := v.state(ctx, id)
		switch {
		case errors.Is(err, lists.ErrNoList):
		case err != nil:
			return nil // `list verify` says so; what is staged may be wanted
		default:
			for _, ho := range st.Handovers() {
				open[path.Base(ho.Stage)] = append(open[path.Base(ho.Stage)], ho.Children...)
			}
		}
		for _, e := range all {
			name := path.Join(dir, string(id), e.Name)
			children, named := open[e.Name]
			if named {
				err = v.staged(id, name, children)
			} else {
				err = v.old(id, name, "an attempt that came to nothing")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// staged compares children with the sums that the log has of them.
func (v *verifier) staged(id lists.ID, dir string, children []store.Placed) error {
	for _, c := range children {
		if strings.Contains(c.Staged, "/") || c.Sum == "" {
			continue
		}
		name := path.Join(dir, c.Staged)
		data, err := readClean(v.s.c.FS, name)
		if errors.As(err, new(*CorruptError)) { // a delivery
			name = path.Join(name, MessageFile)
			data, err = readClean(v.s.c.FS, name)
		}
		switch {
		case fsys.Gone(err), errors.Is(err, fs.ErrNotExist): // published
		case err != nil:
			return err
		case sumOf(data) != c.Sum:
			v.add(id, name, store.Damaged, "the log has another checksum of it; restore it from a backup", "")
		}
	}
	return nil
}

// old reports what has not changed for a day.
func (v *verifier) old(id lists.ID, name, text string) error {
	st, err := v.s.c.FS.Stat(name)
	if fsys.Gone(err) {
		return nil
	}
	if err == nil && v.s.c.Clock().Sub(st.Mtime) > young {
		v.add(id, name, store.Orphan, text, store.Remove)
	}
	return err
}

func (v *verifier) temps() error {
	dir := path.Join(root, "tmp")
	all, err := v.list(dir)
	for _, e := range all {
		err = errors.Join(err, v.old("", path.Join(dir, e.Name), "left by a host that died"))
	}
	return err
}
