package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// filesOf names all files below a folder.
func filesOf(t *testing.T, f fsys.FS, dir string) (out []string) {
	t.Helper()
	list, err := f.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if e.Type.IsDir() {
			out = append(out, filesOf(t, f, name)...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// richVerified is a list with a file of each kind, old enough.
func richVerified(t *testing.T) (*world, *Store, []string) {
	w := newSim(t, defaultSim)
	s, g := richList(t, w)
	h := w.lock(s)
	many := func(yield func(lists.Member) bool) { _ = yield(member(100)) && yield(member(101)) }
	if err := h.Import(t.Context(), By{Actor: "test"}, many, nil); err != nil {
		t.Fatal(err)
	}
	w.release(h)
	all := filesOf(t, w.fs, listFolder(testList))
	for _, kind := range []string{"/generation.", "/log/", "/snapshot/", "/side/", "/history/"} {
		if !slices.ContainsFunc(all, func(n string) bool { return strings.Contains(n, kind) }) {
			t.Fatalf("no %s among %v", kind, all)
		}
	}
	_ = g
	return w, s, all
}

func verify(t *testing.T, w *world) []Finding {
	t.Helper()
	found, err := w.host("verifier").Verify(t.Context(), testList)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each file of a list is damaged in turn, in several ways, and each time it is named.
func TestVerifyNamesWhatIsDamaged(t *testing.T) {
	w, _, all := richVerified(t)
	if found := verify(t, w); len(found) > 0 {
		t.Fatalf("a sound list: %v", found)
	}
	for _, name := range all {
		for what, change := range damages {
			whole, err := fsys.ReadFile(w.fs, name, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			damage(t, w.fs, name, change)
			found := verify(t, w)
			if !slices.ContainsFunc(found, func(f Finding) bool { return f.File == name && f.Kind == Damaged }) {
				t.Errorf("%s, %s: %v", name, what, found)
			}
			damage(t, w.fs, name, func([]byte) []byte { return whole })
		}
	}
	if found := verify(t, w); len(found) > 0 {
		t.Errorf("sound again: %v", found)
	}
}

func TestVerifyNamesWhatIsMissingOrTooMuch(t *testing.T) {
	w, s, all := richVerified(t)
	dir := path.Dir(path.Dir(all[slices.IndexFunc(all, func(n string) bool { return strings.Contains(n, "/log/") })]))
	put := func(name, text string) func() {
		return func() {
			err := fsys.WriteNew(w.fs, name, func(o io.Writer) error { _, err := io.WriteString(o, text); return err })
			if err == nil {
				err = w.fs.SetMtime(name, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	last := func(part string) string {
		var out string
		for _, n := range all {
			if strings.Contains(n, part) {
				out = n
			}
		}
		return out
	}
	side, record := last("/side/"), last("/log/")
	for _, c := range []struct {
		spoil func()
		file  string
		kind  FindingKind
		fix   Remedy
	}{
		{put(dir+"/side/lost", "x"), dir + "/side/lost", Orphan, Remove},
		{put(dir+"/tmp/record.1", "x"), dir + "/tmp/record.1", Orphan, Remove},
		{func() { _ = w.fs.Mkdir("lists/"+string(testList)+"/00000000deadbeef", 0o700) }, "lists/" + string(testList) + "/00000000deadbeef", Orphan, ""},
		{func() {
			_ = w.fs.Remove(record)
			put(strings.Replace(record, record[len(record)-20:], number(999), 1), "x")()
		}, record, Missing, ""},
		{func() { _ = w.fs.Remove(side) }, side, Missing, ""},
	} {
		c.spoil()
		if found := verify(t, w); !slices.ContainsFunc(found, func(f Finding) bool { return f.File == c.file && f.Kind == c.kind }) {
			t.Errorf("%s %s is not among %v", c.kind, c.file, found)
		}
	}
	if _, err := s.Verify(t.Context(), "nobody@example.org"); !errors.Is(err, lists.ErrNoList) {
		t.Errorf("a list that is not there: %v", err)
	}
}

// A snapshot with a right checksum and a wrong content is seen by what the log makes of
// the one before it.
func TestVerifySnapshotAgainstTheLog(t *testing.T) {
	w := newSim(t, defaultSim)
	s, g := richList(t, w)
	v := mustLook(t, s, g)
	name := g.dir().snapshot(v.base())
	st, err := readSnapshot(w.fs, name, g, v.base())
	if err != nil {
		t.Fatal(err)
	}
	d := st.edit()
	DelMember{Role: lists.RoleMember, Address: member(0).Address}.apply(d)
	d.version = st.version
	var b bytes.Buffer
	if err := writeSnapshot(&b, &d.State); err != nil {
		t.Fatal(err)
	}
	damage(t, w.fs, name, func([]byte) []byte { return b.Bytes() })
	found := verify(t, w)
	if len(found) != 1 || found[0].File != name || found[0].Remedy != Remove {
		t.Errorf("found %v", found)
	}
	// Without it the list is what it was.
	if err := w.fs.Remove(name); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, w); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if n := w.read(w.host("c")).List().Roster.Count(lists.RoleMember); n != 8 {
		t.Error(fmt.Sprint(n, " members"))
	}
}

// A file of a later version is not damaged: it is for a later qrunner.
func TestVerifyNewer(t *testing.T) {
	w, _, all := richVerified(t)
	for _, name := range all {
		var whole []byte
		damage(t, w.fs, name, func(b []byte) []byte {
			whole = bytes.Clone(b)
			return bytes.Replace(b, []byte(" 1\n"), []byte(" 2\n"), 1)
		})
		found := verify(t, w)
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.File == name && f.Kind == Newer && f.Remedy == "" }) {
			t.Errorf("%s: %v", name, found)
		}
		damage(t, w.fs, name, func([]byte) []byte { return whole })
	}
}

// A list whose generation cannot be read is listed, and hides no other.
func TestListsWithOneDamaged(t *testing.T) {
	w, s, all := richVerified(t)
	if err := s.Create(t.Context(), "other@example.org", By{Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	name := all[slices.IndexFunc(all, func(n string) bool { return strings.Contains(n, "/generation.") })]
	damage(t, w.fs, name, damages["flipped"])
	got, err := w.host("b").Lists(t.Context())
	if err != nil || !slices.Equal(got, []lists.ID{testList, "other@example.org"}) {
		t.Errorf("lists %v, %v", got, err)
	}
}
