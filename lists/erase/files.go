package erase

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"qrunner/locking/fsys"
)

// Search is how the share is looked through.
type Search struct {
	FS fsys.FS
	// Skip are folders that are left out.
	Skip []string
	// Seen, if not nil, is told of each file that was read.
	Seen func()
}

// Find calls found with the name of every file below a folder of the share that has one of
// the words, in its text or in its name. A file that goes away meanwhile has none.
func (s Search) Find(ctx context.Context, dir string, ws Words, found func(name string) error) error {
	list, err := s.FS.ReadDir(dir)
	if fsys.Gone(err) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("search %s: %w", dir, err)
	}
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if slices.Contains(s.Skip, name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		folder, err := isFolder(s.FS, name, e)
		if err != nil {
			return fmt.Errorf("search %s: %w", name, err)
		}
		if folder {
			if err := s.Find(ctx, name, ws, found); err != nil {
				return err
			}
			continue
		}
		has, err := ws.inFile(s.FS, name)
		if err != nil {
			return fmt.Errorf("search %s: %w", name, err)
		}
		if s.Seen != nil {
			s.Seen()
		}
		if has || ws.In([]byte(e.Name)) {
			if err := found(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func isFolder(f fsys.FS, name string, e fsys.DirEntry) (bool, error) {
	if e.Type != 0 {
		return e.Type.IsDir(), nil
	}
	st, err := f.Stat(name)
	if fsys.Gone(err) {
		return false, nil
	}
	return st.Mode.IsDir(), err
}

// inFile reads a file up to the first word.
func (ws Words) inFile(f fsys.FS, name string) (bool, error) {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if fsys.Gone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	found := false
	err = eachLine(r, func(line []byte) bool {
		found = ws.In(line)
		return !found
	})
	if fsys.Gone(err) {
		return false, nil
	}
	return found, err
}

// Blank writes over the words in a file, in place, and says how many lines had one. It
// is for files that carry no checksum. What another appends meanwhile stays.
func (ws Words) Blank(f fsys.FS, name string) (n int, err error) {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return 0, fmt.Errorf("blank words: %w", err)
	}
	defer r.Close()
	w, err := f.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0, fmt.Errorf("blank words: %w", err)
	}
	var wait bytes.Buffer // what is written again only because a word comes behind it
	out := bufio.NewWriter(w)
	var werr error
	err = eachLine(r, func(line []byte) bool {
		hidden := ws.Hide(line)
		wait.Write(hidden)
		has := !bytes.Equal(hidden, line)
		if has {
			n++
		}
		if has || wait.Len() > 1<<20 {
			_, werr = wait.WriteTo(out)
		}
		return werr == nil
	})
	err = errors.Join(err, werr, out.Flush(), w.Sync(), w.Close())
	if err != nil {
		return n, fmt.Errorf("blank words in %s: %w", name, err)
	}
	return n, nil
}

// Rewrite writes over a whole file, in place, what hide makes of it, if that is something
// else. hide must not change the length.
func Rewrite(f fsys.FS, name string, limit int64, hide func([]byte) []byte) (bool, error) {
	was, err := fsys.ReadFile(f, name, limit)
	if err != nil {
		return false, fmt.Errorf("rewrite file: %w", err)
	}
	now := hide(was)
	if bytes.Equal(was, now) {
		return false, nil
	}
	if len(was) != len(now) {
		return false, fmt.Errorf("rewrite %s: %d octets would become %d", name, len(was), len(now))
	}
	w, err := f.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return false, fmt.Errorf("rewrite file: %w", err)
	}
	_, err = w.Write(now)
	if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
		return false, fmt.Errorf("rewrite %s: %w", name, err)
	}
	return true, nil
}

// eachLine calls fn with every line and its end, until it returns false.
func eachLine(r io.Reader, fn func(line []byte) bool) error {
	br := bufio.NewReaderSize(r, 256<<10)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 && !fn(line) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
