package simfs

import (
	"io/fs"
	"syscall"
	"time"
)

// The server's procedures, after RFC 1813 §3.3. The caller holds the mutex.

func (s *Server) lookup(dir handle, name string) (*inode, error) {
	d, err := s.folder(dir)
	if err != nil {
		return nil, err
	}
	if len(name) > nameMax {
		return nil, syscall.ENAMETOOLONG
	}
	n := d.entries[name]
	if n == nil {
		return nil, syscall.ENOENT
	}
	return n, nil
}

// create makes a file; an existing one is answered if excl is false.
func (s *Server) create(dir handle, name string, mode fs.FileMode, excl bool) (*inode, error) {
	n, err := s.lookup(dir, name)
	if err == nil {
		if excl {
			return nil, syscall.EEXIST
		}
		return n, nil
	}
	if err != syscall.ENOENT {
		return nil, err
	}
	d, err := s.folder(dir)
	if err != nil {
		return nil, err
	}
	n = s.alloc(mode.Perm())
	s.enter(d, name, n)
	s.note(edit{d, name, n})
	return n, nil
}

func (s *Server) mkdir(dir handle, name string, mode fs.FileMode) error {
	if _, err := s.lookup(dir, name); err != syscall.ENOENT {
		if err == nil {
			return syscall.EEXIST
		}
		return err
	}
	d, err := s.folder(dir)
	if err != nil {
		return err
	}
	n := s.alloc(fs.ModeDir | mode.Perm() | mode&fs.ModeSetgid | d.mode&fs.ModeSetgid)
	s.enter(d, name, n)
	s.note(edit{d, name, n})
	return nil
}

func (s *Server) link(file, dir handle, name string) error {
	n, err := s.get(file)
	if err != nil {
		return err
	}
	if _, err := s.lookup(dir, name); err != syscall.ENOENT {
		if err == nil {
			return syscall.EEXIST
		}
		return err
	}
	d, err := s.folder(dir)
	switch {
	case err != nil:
		return err
	case n.isDir():
		return syscall.EPERM
	case n.nlink == 0:
		return syscall.ENOENT
	}
	s.enter(d, name, n)
	s.note(edit{d, name, n})
	return nil
}

// remove is REMOVE, or RMDIR if folder is true.
func (s *Server) remove(dir handle, name string, folder bool) error {
	n, err := s.lookup(dir, name)
	switch {
	case err != nil:
		return err
	case folder && !n.isDir():
		return syscall.ENOTDIR
	case !folder && n.isDir():
		return syscall.EISDIR
	case len(n.entries) > 0:
		return syscall.ENOTEMPTY
	}
	d, err := s.folder(dir)
	if err != nil {
		return err
	}
	s.enter(d, name, nil)
	s.note(edit{d, name, nil})
	s.drop(n)
	return nil
}

func (s *Server) rename(from handle, old string, to handle, name string) error {
	n, err := s.lookup(from, old)
	if err != nil {
		return err
	}
	victim, err := s.lookup(to, name)
	if err != nil && err != syscall.ENOENT {
		return err
	}
	fd, err := s.folder(from)
	if err != nil {
		return err
	}
	td, err := s.folder(to)
	switch {
	case err != nil:
		return err
	case n == victim:
		return nil
	case n.isDir() && td.within(n):
		return syscall.EINVAL
	case victim == nil:
	case victim.isDir() && fd.within(victim):
		return syscall.ENOTEMPTY
	case n.isDir() && !victim.isDir():
		return syscall.ENOTDIR
	case !n.isDir() && victim.isDir():
		return syscall.EISDIR
	case len(victim.entries) > 0:
		return syscall.ENOTEMPTY
	}
	s.enter(td, name, n)
	s.enter(fd, old, nil)
	s.note(edit{td, name, n}, edit{fd, old, nil})
	if victim != nil {
		s.drop(victim)
	}
	return nil
}

// setMtime sets a file's time; the zero time means the server's present time.
func (s *Server) setMtime(file handle, t time.Time) error {
	n, err := s.get(file)
	if err != nil {
		return err
	}
	if t.IsZero() {
		s.touch(n)
		return nil
	}
	n.mtime = t
	s.turn(n)
	return nil
}

func (s *Server) truncate(file handle, size int64) error {
	n, err := s.get(file)
	if err != nil {
		return err
	}
	if n.isDir() {
		return syscall.EISDIR
	}
	if size <= int64(len(n.data)) {
		n.data = n.data[:size:size]
	} else {
		n.data = append(n.data[:len(n.data):len(n.data)], make([]byte, size-int64(len(n.data)))...)
	}
	s.touch(n)
	return nil
}

// extent is a run of bytes written by a client.
type extent struct {
	off  int64
	data []byte
}

// apply writes extents into data without changing what others hold of it.
func apply(data []byte, list []extent) []byte {
	shared := true
	for _, e := range list {
		end := e.off + int64(len(e.data))
		if e.off == int64(len(data)) { // append: the tail past len is nobody's
			data = append(data, e.data...)
			continue
		}
		if shared {
			data, shared = append([]byte(nil), data...), false
		}
		if end > int64(len(data)) {
			data = append(data, make([]byte, end-int64(len(data)))...)
		}
		copy(data[e.off:], e.data)
	}
	return data
}

func (s *Server) write(file handle, list []extent) error {
	n, err := s.get(file)
	if err != nil {
		return err
	}
	n.data = apply(n.data, list)
	s.touch(n)
	return nil
}

// commit makes a file's data durable.
func (s *Server) commit(file handle) error {
	n, err := s.get(file)
	if err != nil {
		return err
	}
	n.stable = n.data
	return nil
}
