package fsys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func root(t *testing.T) *Root {
	t.Helper()
	r, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func put(t *testing.T, f FS, name, text string) {
	t.Helper()
	if err := WriteNew(f, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		t.Fatal(err)
	}
}

func TestNamesStayInTheTree(t *testing.T) {
	r := root(t)
	put(t, r, "own", "x")
	d, err := r.OpenDir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"../x", "/etc/passwd", "a/../../x", "..", "a/..", "./a", "a/", "a//b", "a/.", "", outside} {
		for op, err := range map[string]error{
			"link from": r.Link(bad, "new"), "link to": r.Link("own", bad),
			"rename from": r.Rename(bad, "new"), "rename to": r.Rename("own", bad),
			"dir link from": d.Link(bad, "new"), "dir link to": d.Link("own", bad),
			"remove": r.Remove(bad), "mkdir": r.Mkdir(bad, DirPerm), "touch": r.Touch(bad),
		} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s %q: %v", op, bad, err)
			}
		}
	}
}

// TestLostReplies: a call that was done but answered an error is seen to be done.
func TestLostReplies(t *testing.T) {
	r := root(t)
	lost := Observed(r, Hook{After: func(op, name string, err error) error {
		if err != nil {
			return err
		}
		switch op {
		case "link", "dirlink", "mkdir":
			return &fs.PathError{Op: op, Path: name, Err: syscall.EEXIST}
		case "rename", "dirrename", "remove":
			return &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
		}
		return nil
	}})
	put(t, r, "a", "x")
	if err := LinkNew(lost, "a", "b"); err != nil {
		t.Errorf("link: %v", err)
	}
	if err := MkdirAll(lost, "d/e"); err != nil {
		t.Errorf("mkdir: %v", err)
	}
	st, err := r.Stat("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := RenameNew(lost, "a", "c", st.Ino); err != nil {
		t.Errorf("rename: %v", err)
	}
	put(t, r, "p", "y")
	if err := Publish(lost, "p", "q/r/s", ByLink); err != nil {
		t.Errorf("publish by link: %v", err)
	}
	if err := Publish(lost, "p", "q/r/t", ByRename); err != nil {
		t.Errorf("publish by rename: %v", err)
	}
	if err := RemoveAny(lost, "c"); err != nil {
		t.Errorf("remove: %v", err)
	}
	for _, name := range []string{"b", "d/e", "q/r/s", "q/r/t"} {
		if ok, err := Listed(r, name); !ok || err != nil {
			t.Errorf("%s is not there: %v", name, err)
		}
	}
}

func TestLinkNewRefusesAnothersName(t *testing.T) {
	r := root(t)
	put(t, r, "a", "x")
	put(t, r, "b", "y")
	if err := LinkNew(r, "a", "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link onto another's name: %v", err)
	}
	if err := Publish(r, "a", "b", ByLink); !errors.Is(err, fs.ErrExist) {
		t.Errorf("publish onto another's name: %v", err)
	}
}

// TestWriteNewLeavesNothing: an error at any step removes the file.
func TestWriteNewLeavesNothing(t *testing.T) {
	for _, bad := range []string{"write", "sync"} {
		r := root(t)
		f := Observed(r, Hook{Before: func(op, _ string) error {
			if op == bad {
				return syscall.ENOSPC
			}
			return nil
		}})
		err := WriteNew(f, "x", func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err })
		if !errors.Is(err, syscall.ENOSPC) || !Trouble(err) {
			t.Errorf("%s: %v", bad, err)
		}
		if list, _ := r.ReadDir("."); len(list) != 0 {
			t.Errorf("%s: left %v", bad, list)
		}
	}
}

func TestReadDirHasNumbersOfFiles(t *testing.T) {
	r := root(t)
	put(t, r, "f", "x")
	if err := r.Mkdir("d", DirPerm); err != nil {
		t.Fatal(err)
	}
	list, err := r.ReadDir(".")
	if err != nil || len(list) != 2 || list[0].Name != "d" || !list[0].Type.IsDir() {
		t.Fatalf("%v, %v", list, err)
	}
	st, err := r.Stat("f")
	if err != nil || list[1].Ino != st.Ino || st.Nlink != 1 {
		t.Errorf("listing says %d, stat %+v, %v", list[1].Ino, st, err)
	}
}
