package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// verifier goes through the files of one list's present incarnation.
type verifier struct {
	s     *Store
	gen   generation
	dir   folder
	found []Finding
}

// Verify reads every file of a list's state and says what is wrong: checksums, gaps,
// references, snapshots that are not what the log makes of the one before, and files that
// nothing names. It changes nothing and takes no lock; what is being made or collected
// under its eyes is not reported. An error is a trouble of the share, or lists.ErrNoList.
func (s *Store) Verify(ctx context.Context, id lists.ID) ([]Finding, error) {
	first, err := s.verifyOnce(ctx, id)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	// A daemon may have been at work in between two looks: what counts is seen twice.
	second, err := s.verifyOnce(ctx, id)
	return SeenTwice(first, second), err
}

// SeenTwice is what is in both.
func SeenTwice(first, second []Finding) (out []Finding) {
	for _, f := range second {
		if slices.ContainsFunc(first, func(g Finding) bool { return g.File == f.File && g.Kind == f.Kind }) {
			out = append(out, f)
		}
	}
	return out
}

func (s *Store) verifyOnce(ctx context.Context, id lists.ID) ([]Finding, error) {
	v := &verifier{s: s, gen: generation{List: id}}
	list, err := listDir(s.FS, listFolder(id), false)
	if fsys.Gone(err) {
		return nil, noListError(id)
	}
	if err != nil {
		return nil, fmt.Errorf("verify list %s: %w", id, err)
	}
	if v.gen, err = s.highest(id, list); err != nil {
		if v.read(newestName(id, list), err, "restore it from a backup: until then the list stands still") != nil {
			return nil, fmt.Errorf("verify list %s: %w", id, err)
		}
		return v.found, nil
	}
	if v.gen.Incarnation == "" {
		return nil, noListError(id)
	}
	v.dir = v.gen.dir()
	for _, e := range list {
		if e.Type.IsDir() && len(e.Name) == 16 && e.Name != v.gen.Incarnation && strings.Trim(e.Name, "0123456789abcdef") == "" {
			v.add(path.Join(listFolder(id), e.Name), Orphan, "an incarnation that was deleted", "")
		}
	}
	for _, part := range []func(context.Context) error{v.log, v.snapshots, v.sides, v.histories, v.temps, v.whole} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("verify list %s: %w", id, err)
		}
	}
	return v.found, nil
}

// newestName is the highest generation's file.
func newestName(id lists.ID, list []fsys.DirEntry) string {
	name := ""
	for _, e := range list {
		if strings.HasPrefix(e.Name, generationPrefix) {
			name = max(name, e.Name)
		}
	}
	return path.Join(listFolder(id), name)
}

func (v *verifier) add(file string, kind FindingKind, text string, remedy Remedy) {
	v.found = append(v.found, Finding{List: v.gen.List, File: file, Kind: kind, Text: text, Remedy: remedy})
}

// read takes the error of reading a file: a finding, nothing (it was collected), or an
// error that is the share's.
func (v *verifier) read(name string, err error, advice string) error {
	corrupt, bad := errors.AsType[*CorruptError](err)
	switch {
	case err == nil, fsys.Gone(err):
	case bad:
		v.add(corrupt.File, Damaged, fmt.Sprintf("%v: %s", corrupt.Err, advice), "")
	case errors.Is(err, ErrNewer):
		v.add(name, Newer, err.Error()+": upgrade qrunner", "")
	default:
		return err
	}
	return nil
}

// log reads each record.
func (v *verifier) log(ctx context.Context) error {
	view, err := v.s.look(v.dir, false)
	if err != nil {
		return err
	}
	for _, n := range view.records {
		if err := ctx.Err(); err != nil {
			return err
		}
		advice := "restore it from a backup: until then the list stands still"
		if n <= view.base() {
			advice = "a snapshot stands above it, the list goes on; restore it from a backup for its history"
		}
		_, err := readRecord(v.s.FS, v.dir.record(n), n)
		if err := v.read(v.dir.record(n), err, advice); err != nil {
			return err
		}
	}
	if gap, ok := errors.AsType[*GapError](view.whole()); ok {
		v.add(v.dir.record(gap.Missing), Missing, fmt.Sprintf("the last record is %d; restore it from a backup: until then the list stands still", gap.Head), "")
	}
	return nil
}

// snapshots reads each, and makes each from the one before and the log.
func (v *verifier) snapshots(ctx context.Context) error {
	names, err := v.s.listNumbers(v.dir.snapshots(), false)
	if err != nil {
		return err
	}
	var before *State
	for _, n := range names {
		name := v.dir.snapshot(n)
		st, err := readSnapshot(v.s.FS, name, v.gen, n)
		if _, bad := errors.AsType[*CorruptError](err); bad {
			v.add(name, Damaged, err.Error(), Remove)
			continue
		}
		if err := v.read(name, err, ""); err != nil {
			return err
		}
		if st == nil {
			continue
		}
		if err := v.compare(ctx, before, st, name); err != nil {
			return err
		}
		before = st
	}
	return nil
}

// compare finds a snapshot that the log does not lead to.
func (v *verifier) compare(ctx context.Context, before, st *State, name string) error {
	if before == nil {
		return nil
	}
	before.seal(&v.s.Config)
	made, err := v.s.replay(ctx, v.dir, before, st.version)
	if _, bad := errors.AsType[*CorruptError](err); bad || fsys.Gone(err) || errors.Is(err, ErrNewer) {
		return nil // said of the record
	}
	if err != nil {
		return err
	}
	var want, have bytes.Buffer
	if err := errors.Join(writeSnapshot(&want, made), writeSnapshot(&have, st)); err != nil {
		return err
	}
	if !bytes.Equal(want.Bytes(), have.Bytes()) {
		v.add(name, Damaged, fmt.Sprintf("the log from snapshot %d on leads to another state", before.version), Remove)
	}
	return nil
}

// young is how long a file without a name in the log may be on its way.
const young = 25 * time.Hour

// sides looks for member files that no record names.
func (v *verifier) sides(ctx context.Context) error {
	list, err := listDir(v.s.FS, v.dir.sides(), false)
	if err != nil && !fsys.Gone(err) || len(list) == 0 {
		return err
	}
	view, err := v.s.look(v.dir, false)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, n := range view.records {
		r, err := readRecord(v.s.FS, v.dir.record(n), n)
		if err != nil {
			return nil // said of the record; what it names is unknown
		}
		for _, c := range r.Changes {
			if imp, ok := c.(importMembers); ok {
				named[imp.Side] = true
				if err := v.side(imp); err != nil {
					return err
				}
			}
		}
	}
	return v.unnamed(v.dir.sides(), list, named, "no record names it")
}

// side reads a member file that a record names.
func (v *verifier) side(imp importMembers) error {
	name := v.dir.side(imp.Side)
	d := emptyState(v.gen.List, v.gen.Incarnation)
	err := v.s.applySide(v.dir, d.edit(), imp)
	if fsys.Gone(err) {
		if all, lerr := listDir(v.s.FS, v.dir.sides(), false); lerr == nil {
			if _, there := fsys.Find(all, imp.Side); !there {
				v.add(name, Missing, "a record of the log names it; restore it from a backup", "")
			}
		}
		return nil
	}
	return v.read(name, err, "restore it from a backup")
}

func (v *verifier) histories(context.Context) error {
	names, err := v.s.listNumbers(v.dir.histories(), false)
	if err != nil && !fsys.Gone(err) {
		return err
	}
	for _, n := range names {
		err := v.s.readHistory(v.dir.history(n), func(*Record) error { return nil })
		if err := v.read(v.dir.history(n), err, "the list goes on; restore it from a backup for list log"); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) temps(context.Context) error {
	list, err := listDir(v.s.FS, v.dir.temps(), false)
	if err != nil && !fsys.Gone(err) {
		return err
	}
	return v.unnamed(v.dir.temps(), list, nil, "left by a host that died")
}

// unnamed reports old files that are not among those named.
func (v *verifier) unnamed(dir string, list []fsys.DirEntry, named map[string]bool, text string) error {
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if named[e.Name] || strings.HasPrefix(e.Name, ".nfs") {
			continue
		}
		st, err := v.s.FS.Stat(name)
		if err != nil && !fsys.Gone(err) {
			return err
		}
		if err == nil && v.s.now().Sub(st.Mtime) > young {
			v.add(name, Orphan, text, Remove)
		}
	}
	return nil
}

// whole is for what only the whole tells.
func (v *verifier) whole(ctx context.Context) error {
	fresh := Open(v.s.Config) // with nothing in memory
	_, err := fresh.Read(ctx, v.gen.List)
	switch {
	case err == nil, errors.Is(err, lists.ErrNoList):
	case len(v.found) > 0 && !fsys.Trouble(err):
		for i := range v.found { // nothing goes while the state cannot be made without it
			v.found[i].Remedy = ""
		}
	case fsys.Trouble(err):
		return err
	default:
		v.add(string(v.dir), Damaged, err.Error(), "")
	}
	return nil
}
