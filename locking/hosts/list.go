package hosts

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"qrunner/locking/fsys"
)

// maxRecord bounds what is read of a registration.
const maxRecord = 4 << 10

func (r *Registry) path(name string) string { return r.cfg.Dir + "/" + name }

// List returns the registered hosts in order of their names.
func (r *Registry) List(ctx context.Context) ([]Host, error) {
	now, err := r.now()
	if err != nil {
		return nil, fmt.Errorf("list hosts: %w", err)
	}
	names, err := r.cfg.FS.ReadDir(r.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("list hosts: %w", err)
	}
	var list []Host
	for _, e := range names {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("list hosts: %w", context.Cause(ctx))
		}
		if strings.HasPrefix(e.Name, ".") || !ValidName(e.Name) {
			continue // private names, and what is not ours
		}
		s, err := r.look(e.Name)
		if fsys.Gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list hosts: %w", err)
		}
		h := Host{Identity: s.id, Seen: s.mtime, Age: now.Sub(s.mtime), Invalid: !s.valid}
		h.Host = e.Name
		h.Alive = h.Age < staleBeats*r.cfg.Every
		list = append(list, h)
	}
	return list, nil
}

// sight is a registration as it looked at one moment.
type sight struct {
	id    Identity
	valid bool
	ino   uint64
	mtime time.Time
}

// same reports whether nothing happened between two sights: not even a heartbeat.
func (s sight) same(o sight) bool {
	return s.ino == o.ino && s.id == o.id && s.mtime.Equal(o.mtime)
}

// look reads the registration of host.
func (r *Registry) look(host string) (sight, error) {
	f, err := r.cfg.FS.OpenFile(r.path(host), os.O_RDONLY, 0)
	if err != nil {
		return sight{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return sight{}, err
	}
	s := sight{ino: st.Ino, mtime: st.Mtime}
	buf := make([]byte, maxRecord)
	n, err := f.ReadAt(buf, 0)
	if n == 0 && err != nil && st.Size > 0 {
		return sight{}, err
	}
	s.id, err = decode(buf[:n])
	s.valid = err == nil
	return s, nil
}

// now asks the server for the time by making a file and looking at it.
func (r *Registry) now() (time.Time, error) {
	name := r.path("." + r.cfg.Self.Host + ".now." + nonce())
	f, err := r.create(name)
	if err != nil {
		return time.Time{}, err
	}
	st, err := f.Stat()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	_ = r.cfg.FS.Remove(name)
	return st.Mtime, err
}

// create makes a private file, and the folder first where it is missing.
func (r *Registry) create(name string) (fsys.File, error) {
	open := func() (fsys.File, error) {
		return r.cfg.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fsys.FilePerm)
	}
	f, err := open()
	if !fsys.Gone(err) {
		return f, err
	}
	if err := fsys.MkdirAll(r.cfg.FS, r.cfg.Dir); err != nil {
		return nil, err
	}
	return open()
}
