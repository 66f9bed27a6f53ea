package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// richList has something of everything, in log and snapshots.
func richList(t *testing.T, w *world) (*Store, generation) {
	s := w.hostOn(w.view("a"), "a", 5)
	w.create(s)
	at := time.Date(2026, 5, 6, 7, 8, 9, 1000, time.UTC)
	for i := range 8 {
		h := w.lock(s)
		m := member(i)
		m.Name, m.Status, m.StatusSince, m.Prefs = "Ünal \"x\"", lists.StatusByUser, at, map[string]string{"a": "b"}
		w.commit(h, AddMember{m}, SetSetting{"description", fmt.Sprint("number ", i)}, SetPostID{uint64(i)},
			MarkSeen{Key: fmt.Sprint("k", i), At: at}, HoldPost{HeldPost{ID: fmt.Sprint("h", i), Since: at}},
			AddToDigest{DigestPost{ID: fmt.Sprint("d", i), N: uint64(i), Size: 7, Since: at, Sum: "s"}}, SetDigest{1, i, at},
			OpenHandover{Handover{Entry: fmt.Sprint("in/", 9-i)}}, MarkAttempt{Entry: fmt.Sprint("in/", i), Count: 1, At: at})
		w.release(h)
	}
	g, err := s.current(t.Context(), testList)
	if err != nil {
		t.Fatal(err)
	}
	return s, g
}

func TestSnapshotIsAFunctionOfTheLog(t *testing.T) { onEach(t, snapshotIsAFunctionOfTheLog) }

func snapshotIsAFunctionOfTheLog(t *testing.T, w *world) {
	s, g := richList(t, w)
	v := mustLook(t, s, g)
	if len(v.snapshots) != 2 {
		t.Fatalf("snapshots %v, want two", v.snapshots)
	}
	want := dump(w.read(w.host("b")))
	if got := dump(w.read(s)); got != want {
		t.Errorf("in memory:\n%s\nfrom the snapshot:\n%s", got, want)
	}
	// From the older snapshot and the log, the newer one comes out octet for octet.
	v.snapshots = v.snapshots[:1]
	n := mustLook(t, s, g).base()
	st, err := w.host("c").build(t.Context(), g, v, n)
	if err != nil {
		t.Fatal(err)
	}
	file, err := fsys.ReadFile(w.fs, g.dir().snapshot(n), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if dump(st) != string(file) {
		t.Errorf("snapshot %d:\n%s\nfrom the log:\n%s", n, file, dump(st))
	}
}

// damage writes over a file.
func damage(t *testing.T, f fsys.FS, name string, change func([]byte) []byte) {
	t.Helper()
	data, err := fsys.ReadFile(f, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(name); err != nil {
		t.Fatal(err)
	}
	err = fsys.WriteNew(f, name, func(w io.Writer) error {
		_, err := w.Write(change(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var damages = map[string]func([]byte) []byte{
	"empty":     func(b []byte) []byte { return nil },
	"cut":       func(b []byte) []byte { return b[:len(b)/2] },
	"no end":    func(b []byte) []byte { return b[:len(b)-10] },
	"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"longer":    func(b []byte) []byte { return append(b, "{}\n"...) },
	"zeros":     func(b []byte) []byte { clear(b[len(b)/2:]); return b },
	"nonsense":  func(b []byte) []byte { return []byte("hello\n") },
	"not ours":  func(b []byte) []byte { return []byte("qrunner roster 1\nend 00000000 0\n") },
	"line less": func(b []byte) []byte { return dropLine(b, 2) },
}

func dropLine(b []byte, n int) []byte {
	lines := strings.SplitAfter(string(b), "\n")
	if len(lines) > n+1 {
		lines = append(lines[:n], lines[n+1:]...)
	}
	return []byte(strings.Join(lines, ""))
}

// A damaged snapshot is passed over for the one before it; never half a roster.
func TestDamagedSnapshot(t *testing.T) {
	for what, change := range damages {
		t.Run(what, func(t *testing.T) {
			w := newSim(t, defaultSim)
			s, g := richList(t, w)
			want := dump(w.read(s))
			v := mustLook(t, s, g)
			damage(t, w.fs, g.dir().snapshot(v.snapshots[1]), change)
			if got := dump(w.read(w.host("b"))); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			h := w.lock(w.host("c"))
			w.commit(h, SetPostID{99})
			w.release(h)
			damage(t, w.fs, g.dir().snapshot(v.snapshots[0]), change)
			_, err := w.host("d").Read(t.Context(), testList)
			if _, ok := errors.AsType[*GapError](err); !ok {
				t.Errorf("with both snapshots damaged: %v, want a gap", err)
			}
		})
	}
}

func TestDamagedRecordRefusesTheList(t *testing.T) {
	for what, change := range damages {
		t.Run(what, func(t *testing.T) {
			w := newSim(t, defaultSim)
			s := w.host("a")
			w.create(s)
			w.work(s, 2)
			g, _ := s.current(t.Context(), testList)
			damage(t, w.fs, g.dir().record(3), change)
			for _, err := range []error{
				second(w.host("b").Read(t.Context(), testList)),
				second(w.host("b").Lock(t.Context(), testList, "")),
			} {
				c, ok := errors.AsType[*CorruptError](err)
				if !ok || c.File != g.dir().record(3) {
					t.Errorf("error %v, want a corrupt record 3", err)
				}
			}
			if _, err := w.host("b").TryLock(t.Context(), testList, ""); err == nil || errors.Is(err, lists.ErrNoList) {
				t.Errorf("the lock was not given back: %v", err)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// What a newer version wrote is refused, not half understood.
func TestNewerIsRefused(t *testing.T) {
	reframe := func(line string) func([]byte) []byte {
		return func([]byte) []byte {
			var b strings.Builder
			f := newFramer(&b, "record")
			f.write([]byte(line + "\n"))
			if err := f.end(); err != nil {
				t.Fatal(err)
			}
			return []byte(b.String())
		}
	}
	head := `{"n":3,"kind":"commit","time":"2026-01-01T00:00:00Z","host":"z"`
	for what, change := range map[string]func([]byte) []byte{
		"version": func(b []byte) []byte { return []byte(strings.Replace(string(b), "record 1", "record 2", 1)) },
		"change":  reframe(head + `,"changes":[{"paint_list":{"colour":"red"}}]}`),
		"field":   reframe(head + `,"changes":[{"set_post_id":{"n":1,"why":"x"}}]}`),
		"record":  reframe(head + `,"moon":"full"}`),
		"kind":    reframe(strings.Replace(head, "commit", "merge", 1) + `}`),
	} {
		t.Run(what, func(t *testing.T) {
			w := newSim(t, defaultSim)
			s := w.host("a")
			w.create(s)
			w.work(s, 1)
			g, _ := s.current(t.Context(), testList)
			damage(t, w.fs, g.dir().record(3), change)
			wantErr(t, second(w.host("b").Read(t.Context(), testList)), ErrNewer)
			wantErr(t, second(w.host("b").Lock(t.Context(), testList, "")), ErrNewer)
		})
	}
}

// Trouble of the share while reading is neither damage nor an old state.
func TestTroubleIsNotDamage(t *testing.T) {
	w := newWorld(t)
	s, _ := richList(t, w)
	w.work(w.host("z"), 1) // behind the last snapshot
	want := dump(w.read(s))
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.EACCES, syscall.ETIMEDOUT} {
		for _, part := range []string{"/snapshot/", "/log/"} {
			fs := fsys.Observed(w.fs, fsys.Hook{Before: func(op, name string) error {
				if op == "open" && strings.Contains(name, part) {
					return errno
				}
				return nil
			}})
			b := w.hostOn(fs, "b", 0)
			_, err := b.Read(t.Context(), testList)
			if _, ok := errors.AsType[*CorruptError](err); err == nil || ok || !errors.Is(err, errno) {
				t.Errorf("%v at %s: %v", errno, part, err)
			}
		}
	}
	if got := dump(w.read(w.host("b"))); got != want {
		t.Error("state has changed")
	}
}

func TestImport(t *testing.T) { onEach(t, importMany) }

func importMany(t *testing.T, w *world) {
	s := w.hostOn(w.view("a"), "a", 6)
	w.create(s)
	h := w.lock(s)
	w.commit(h, AddMember{member(3)})
	var calls []int
	err := h.Import(t.Context(), By{Actor: "anna"}, manyMembers(2500), func(n int) { calls = append(calls, n) })
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(calls) != "[1000 2000 2500]" {
		t.Errorf("progress %v", calls)
	}
	if err := h.Import(t.Context(), By{}, manyMembers(10), nil); err != nil { // all there: nothing to do
		t.Fatal(err)
	}
	bad := func(yield func(lists.Member) bool) {
		_ = yield(member(5000)) && yield(lists.Member{Role: lists.RoleMember, Address: "x"})
	}
	if err := h.Import(t.Context(), By{}, bad, nil); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("a bad address: %v", err)
	}
	want := dump(h.State())
	if got := dump(w.read(w.host("b"))); got != want {
		t.Error("replayed state differs")
	}
	dir := h.gen.dir()
	sides, err := w.fs.ReadDir(dir.sides())
	if err != nil || len(sides) != 1 {
		t.Fatalf("side files %v, %v", sides, err)
	}
	w.release(h)
	// The file stays while a record that is kept names it, and goes with that.
	for try := 0; ; try++ {
		w.work(s, 2)
		v := mustLook(t, s, h.gen)
		sides, err := w.fs.ReadDir(dir.sides())
		if err != nil {
			t.Fatal(err)
		}
		named := v.records[0] <= 4
		if named != (len(sides) == 1) {
			t.Fatalf("records from %d, side files %v", v.records[0], sides)
		}
		if w.read(w.host(fmt.Sprint("c", try))).List().Roster.Count(lists.RoleMember) != 2500 {
			t.Fatal("members are missing")
		}
		if !named {
			break
		}
	}
}

func TestDamagedSideFile(t *testing.T) {
	for what, change := range damages {
		t.Run(what, func(t *testing.T) {
			w := newSim(t, defaultSim)
			s := w.host("a")
			w.create(s)
			h := w.lock(s)
			if err := h.Import(t.Context(), By{}, manyMembers(100), nil); err != nil {
				t.Fatal(err)
			}
			sides, err := w.fs.ReadDir(h.gen.dir().sides())
			if err != nil {
				t.Fatal(err)
			}
			w.release(h)
			damage(t, w.fs, h.gen.dir().side(sides[0].Name), change)
			err = second(w.host("b").Read(t.Context(), testList))
			if _, ok := errors.AsType[*CorruptError](err); !ok {
				t.Errorf("error %v, want a corrupt file", err)
			}
		})
	}
}

// counting counts the octets that are written.
type counting struct {
	fsys.FS
	n *int
}

type countingFile struct {
	fsys.File
	n *int
}

func (c counting) OpenFile(name string, flag int, perm os.FileMode) (fsys.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return countingFile{f, c.n}, err
}

func (f countingFile) Write(p []byte) (int, error) {
	*f.n += len(p)
	return f.File.Write(p)
}

// A subscribe to a list of 100,000, fence and release included, writes less than 4 KB.
func TestSubscribeWritesLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100,000 members")
	}
	w := bigList(t, 100_000, true)
	n := 0
	s := w.hostOn(counting{w.fs, &n}, "a", 0)
	h := w.lock(s)
	w.commit(h, AddMember{lists.Member{Role: lists.RoleMember, Address: "somebody.new@example.com", Name: "Somebody New"}})
	w.release(h)
	t.Logf("%d octets", n)
	if n == 0 || n >= 4096 {
		t.Errorf("%d octets written", n)
	}
}
