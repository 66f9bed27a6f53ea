package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// IDs lists a folder afresh, oldest first. Names that are no entry's are among
// them, for Load to refuse; dot files are not.
// A holder loads only what IDs showed it after its grant: what an older listing
// showed may have been handed over and be gone, and open in a cache nevertheless.
func (s *Spool) IDs(ctx context.Context, q queue.Name, list lists.ID) ([]queue.ID, error) {
	all, err := s.listFresh(Dir(q, list))
	if err != nil {
		return nil, fmt.Errorf("list queue: %w", err)
	}
	names, odd := entryNames(all)
	for _, n := range odd {
		s.c.Log.WarnContext(ctx, "name cannot be written to a log, left alone", "queue", q, "list", list, "entry", n)
	}
	ids := make([]queue.ID, len(names))
	for i, n := range names {
		ids[i] = queue.ID(n)
	}
	return ids, ctx.Err()
}

// listFresh lists a folder after changing its time, which is what makes an NFS
// client ask the server. A folder that is not there is empty.
func (s *Spool) listFresh(name string) ([]fsys.DirEntry, error) {
	for try := 0; ; try++ {
		list, err := touchAndList(s.c.FS, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case errors.Is(err, syscall.ESTALE) && try < 2: // made anew under the same name
			continue
		}
		return list, err
	}
}

func touchAndList(f fsys.FS, name string) ([]fsys.DirEntry, error) {
	d, err := f.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := d.Touch(); err != nil {
		return nil, err
	}
	return d.ReadDir()
}

// Load reads an entry. Its errors are fs.ErrNotExist, *CorruptError (after a clean
// read only), ErrNewer, and troubles of the share.
func (s *Spool) Load(ctx context.Context, q queue.Name, list lists.ID, id queue.ID) (*queue.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("load entry: %w", err)
	}
	name := path.Join(Dir(q, list), string(id))
	data, err := readClean(s.c.FS, name)
	if err != nil {
		return nil, fmt.Errorf("load entry: %w", err)
	}
	e, err := Decode(data)
	if err == nil && (e.ID != id || e.Queue != q || e.List != list) {
		err = &CorruptError{Why: fmt.Sprintf("the file says that it is %s", Key(e.Queue, e.List, e.ID))}
	}
	if err != nil {
		return nil, fmt.Errorf("load entry: %w", named(err, name))
	}
	return e, nil
}

// readClean reads a whole file. One that is too long to be ours, or a folder, is
// corrupt; every other error is the share's.
func readClean(f fsys.FS, name string) ([]byte, error) {
	data, err := fsys.ReadFile(f, name, MaxSize)
	switch {
	case errors.Is(err, fsys.ErrTooLarge):
		return nil, &CorruptError{Name: name, Why: "larger than any entry"}
	case errors.Is(err, syscall.EISDIR):
		return nil, &CorruptError{Name: name, Why: "a folder"}
	}
	return data, err
}

// named puts a file's name into what decoding said.
func named(err error, name string) error {
	var bad *CorruptError
	if errors.As(err, &bad) {
		return &CorruptError{Name: name, Why: bad.Why}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Tidy is called by the holder when a queue of its list (or of one that is not
// there) looks empty: it removes the
// folder. False means that there is something in it after all: list it again.
func (s *Spool) Tidy(ctx context.Context, list lists.ID, q queue.Name) (bool, error) {
	name := Dir(q, list)
	err := s.c.FS.Remove(name)
	if err == nil || fsys.Gone(err) {
		return true, nil
	}
	// Not empty, or so the server says: a v3 client can fail to see a new name
	// until the folder's time changes.
	all, err := s.listFresh(name)
	if err != nil {
		return false, fmt.Errorf("tidy queue: %w", err)
	}
	names, _ := entryNames(all)
	return len(names) == 0, nil
}
