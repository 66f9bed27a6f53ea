package spool

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"

	"qrunner/locking/fsys"
)

// maxIdle is how many folders stay open after use: as many as lists that get mail
// at the same time, roughly.
const maxIdle = 64

// folders hands out open folders. All who name files in a folder at the same time
// share one descriptor, and through it the syncs.
type folders struct {
	fs fsys.FS

	mu   sync.Mutex // never held across a call to the share
	open map[string]*folder
	idle []*folder // unused ones, the longest unused first
}

// folder is an open folder.
type folder struct {
	name  string
	dir   fsys.Dir
	err   error         // of opening
	ready chan struct{} // closed when dir or err is set
	users int           // guarded by folders.mu
	syncs group
}

// acquire returns the folder, opened; it is made if it is not there. Every acquire
// needs a release.
func (fo *folders) acquire(name string) (*folder, error) {
	fo.mu.Lock()
	f, ok := fo.open[name]
	if !ok {
		f = &folder{name: name, ready: make(chan struct{})}
		fo.open[name] = f
	}
	f.users++
	fo.idle = slices.DeleteFunc(fo.idle, func(x *folder) bool { return x == f })
	fo.mu.Unlock()
	if !ok {
		f.dir, f.err = fo.openDir(name)
		close(f.ready)
	}
	<-f.ready
	if f.err != nil {
		fo.drop(f)
		fo.release(f)
		return nil, f.err
	}
	return f, nil
}

// openDir opens a folder, which it makes if it has to. The folder's own name is on
// stable storage then, whoever made it: or else a power cut could take what is moved
// into it from both places.
func (fo *folders) openDir(name string) (fsys.Dir, error) {
	d, err := fo.fs.OpenDir(name)
	if fsys.Gone(err) {
		if d, err = fo.makeDir(name); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := fsys.SyncDir(fo.fs, path.Dir(name)); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// makeDir makes and opens a folder, without a sync in between: the list's holder
// removes empty folders, and shall have little time for it.
func (fo *folders) makeDir(name string) (fsys.Dir, error) {
	err := fo.fs.Mkdir(name, fsys.DirPerm)
	if fsys.Gone(err) {
		if err := fsys.MkdirAll(fo.fs, path.Dir(name)); err != nil {
			return nil, err
		}
		err = fo.fs.Mkdir(name, fsys.DirPerm)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return fo.fs.OpenDir(name)
}

// sync returns when the names made in f before the call are on stable storage.
func (fo *folders) sync(f *folder) error {
	return f.syncs.do(func() error {
		err := f.dir.Sync()
		if fsys.Gone(err) {
			// Removed by the list's holder, so it was empty: what we put in was
			// consumed already.
			return syncGone(fo.fs, f.name)
		}
		return err
	})
}

// syncGone syncs the folder name, or, if it is there no more, the one that it was in.
func syncGone(f fsys.FS, name string) error {
	err := fsys.SyncDir(f, name)
	if fsys.Gone(err) {
		return fsys.SyncDir(f, path.Dir(name))
	}
	return err
}

// drop makes the next acquire open the name anew: what f holds open is gone.
func (fo *folders) drop(f *folder) {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if fo.open[f.name] == f {
		delete(fo.open, f.name)
	}
}

// release ends one use.
func (fo *folders) release(f *folder) {
	if old := fo.retire(f); old != nil && old.dir != nil {
		_ = old.dir.Close()
	}
}

// retire counts the use down and returns a folder to be closed, if any.
func (fo *folders) retire(f *folder) *folder {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if f.users--; f.users > 0 {
		return nil
	}
	if fo.open[f.name] != f {
		return f
	}
	fo.idle = append(fo.idle, f)
	if len(fo.idle) <= maxIdle {
		return nil
	}
	old := fo.idle[0]
	fo.idle = slices.Delete(fo.idle, 0, 1)
	delete(fo.open, old.name)
	return old
}
