package simfs_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// afterCut runs story and a power cut with many seeds and returns what was there
// afterwards, by how often.
func afterCut(t *testing.T, cfg simfs.Config, story func(r *rig, h fsys.FS)) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(200) {
		cfg.Seed = seed
		bubble(t, cfg, func(r *rig) {
			story(r, r.a)
			r.a.Crash()
			r.srv.PowerCut()
			seen[r.tree(".")]++
		})
	}
	return seen
}

// tree is all files with their content, on one line.
func (r *rig) tree(dir string) string {
	r.Helper()
	o := r.srv.Observer()
	var out []string
	for _, n := range r.names(o, dir) {
		full := strings.TrimPrefix(dir+"/"+n, "./")
		if r.stat(o, full).Mode.IsDir() {
			out = append(out, full+"/", r.tree(full))
			continue
		}
		out = append(out, full+"="+r.read(o, full))
	}
	return strings.TrimSpace(strings.Join(out, " "))
}

func wantStates(t *testing.T, seen map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if seen[w] == 0 {
			t.Errorf("never saw %q", w)
		}
		delete(seen, w)
	}
	for s, n := range seen {
		t.Errorf("saw %q %d times", s, n)
	}
}

func TestPowerCutTearsUnsyncedContent(t *testing.T) {
	seen := afterCut(t, simfs.Config{}, func(r *rig, h fsys.FS) {
		r.write(h, "x", "ab")
	})
	wantStates(t, seen, "x=", "x=a", "x=ab")
}

func TestPowerCutKeepsSyncedContent(t *testing.T) {
	seen := afterCut(t, simfs.Config{}, func(r *rig, h fsys.FS) {
		f, err := h.OpenFile("x", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o660)
		r.must(err)
		_, err = f.Write([]byte("ab"))
		r.must(err)
		r.must(f.Sync())
		_, err = f.Write([]byte("c"))
		r.must(err)
		r.must(f.Close())
	})
	wantStates(t, seen, "x=ab", "x=abc")
}

func TestPowerCutOfASyncExportKeepsNames(t *testing.T) {
	seen := afterCut(t, simfs.Config{}, func(r *rig, h fsys.FS) {
		r.must(h.Mkdir("d", 0o770))
		r.must(h.Rename("d", "e"))
	})
	wantStates(t, seen, "e/")
}

func TestPowerCutUndoesNamesWithoutDirSync(t *testing.T) {
	for _, cfg := range []simfs.Config{{Local: true}, {AsyncExport: true}} {
		seen := afterCut(t, cfg, func(r *rig, h fsys.FS) {
			r.must(h.Mkdir("d", 0o770))
			r.must(fsys.SyncDir(h, "."))
			r.must(fsys.WriteNew(h, "x", func(w io.Writer) error {
				_, err := w.Write([]byte("1"))
				return err
			}))
			r.must(fsys.SyncDir(h, "."))
			r.must(h.Rename("x", "d/x"))
		})
		wantStates(t, seen, "d/  x=1", "d/ d/x=1")
	}
}

func TestPublishSurvivesAPowerCut(t *testing.T) {
	seen := afterCut(t, simfs.Config{Local: true}, func(r *rig, h fsys.FS) {
		r.must(fsys.MkdirAll(h, "tmp"))
		r.must(fsys.WriteNew(h, "tmp/x", func(w io.Writer) error {
			_, err := w.Write([]byte("1"))
			return err
		}))
		r.must(fsys.Publish(h, "tmp/x", "q/a/x", fsys.ByRename))
	})
	for s := range seen {
		if !strings.Contains(s, "q/a/x=1") {
			t.Errorf("saw %q", s)
		}
	}
}

func TestRemovedFileCanComeBack(t *testing.T) {
	seen := afterCut(t, simfs.Config{Local: true}, func(r *rig, h fsys.FS) {
		f, err := h.OpenFile("x", os.O_CREATE|os.O_WRONLY, 0o660)
		r.must(err)
		r.must(f.Sync())
		r.must(f.Close())
		r.must(fsys.SyncDir(h, "."))
		r.must(h.Remove("x"))
	})
	wantStates(t, seen, "", "x=")
}

// TestPowerCutKeepsTheOrderOfAName: a file goes from a to b and back, and then away; the
// last step is synced. None of the older ones may come after it.
func TestPowerCutKeepsTheOrderOfAName(t *testing.T) {
	seen := afterCut(t, simfs.Config{AsyncExport: true}, func(r *rig, h fsys.FS) {
		for _, d := range []string{"a", "b", "c"} {
			r.must(fsys.MkdirAll(h, d))
		}
		r.write(h, "a/x", "1")
		r.must(fsys.SyncDir(h, "a"))
		f, err := h.OpenFile("a/x", os.O_WRONLY, 0)
		r.must(err)
		r.must(f.Sync())
		r.must(f.Close())
		r.must(h.Rename("a/x", "b/x"))
		r.must(h.Rename("b/x", "a/x"))
		r.must(h.Rename("a/x", "c/x"))
		r.must(fsys.SyncDir(h, "c"))
	})
	wantStates(t, seen, "a/  b/  c/ c/x=1")
}
