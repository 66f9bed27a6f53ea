package site

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"qrunner/locking/fsys"
)

// folders are the top of the share. What is below them, their owners make.
var folders = []string{"hosts", "locks", "lists", "queue", "trace"}

// Init makes the marker and the top folders. What is there already is kept, so it
// may be called again, and by several hosts at once: they all return the same
// marker. Everything is on stable storage when it returns nil.
func Init(ctx context.Context, f fsys.FS) (Marker, error) {
	m, err := Check(ctx, f)
	if errors.Is(err, ErrNoSite) {
		if err = create(f); err == nil {
			m, err = Check(ctx, f)
		}
	}
	if err != nil {
		return Marker{}, fmt.Errorf("init site: %w", err)
	}
	for _, name := range folders {
		if err := f.Mkdir(name, fsys.DirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
			return Marker{}, fmt.Errorf("init site: %w", err)
		}
	}
	if err := fsys.SyncDir(f, "."); err != nil {
		return Marker{}, fmt.Errorf("init site: %w", err)
	}
	return m, nil
}

// create puts a marker of our own in place, complete from its first moment. That
// another host was faster is no error; our own link attempt made the view fresh.
func create(f fsys.FS) error {
	id := newID()
	own := File + "." + id
	err := fsys.WriteNew(f, own, func(w io.Writer) error {
		_, err := io.WriteString(w, Marker{ID: id, Format: Format}.text())
		return err
	})
	if err != nil {
		return err
	}
	err = fsys.LinkNew(f, own, File)
	if rerr := fsys.RemoveAny(f, own); err == nil {
		err = rerr
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	return hex.EncodeToString(b[:])
}
