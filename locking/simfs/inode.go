package simfs

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"qrunner/locking/fsys"
)

// handle is what a client holds of a file: an inode number and the generation
// that tells its present file from earlier ones.
type handle struct{ ino, gen uint64 }

// inode is a file or folder on the server. data is never changed in place below
// its length, so that a client can keep a slice of it as its cached pages.
type inode struct {
	handle
	mode    fs.FileMode
	data    []byte
	stable  []byte            // the data as of the last commit
	entries map[string]*inode // of a folder
	durable map[string]*inode // AsyncExport: a folder's entries on the disk
	parent  *inode            // of a folder
	nlink   int
	opens   int // V42 and Local: open on that many clients
	mtime   time.Time
	ctime   time.Time
	change  uint64
}

func (n *inode) isDir() bool { return n.mode.IsDir() }

// changeID is all by which a client can tell that a file changed.
type changeID struct {
	mtime, ctime int64
	size         int
	count        uint64 // always 0 on V3
}

// attr is the answer to GETATTR.
type attr struct {
	info fsys.Info
	id   changeID
}

const (
	device     = 0x51
	folderSize = 4096
	nameMax    = 255
)

func (s *Server) attr(n *inode) attr {
	size := len(n.data)
	if n.isDir() {
		size = folderSize
	}
	a := attr{
		info: fsys.Info{
			Size: int64(size), Mode: n.mode, Mtime: n.mtime, Ctime: n.ctime,
			Dev: device, Ino: n.ino, Nlink: uint64(n.nlink),
		},
		id: changeID{mtime: n.mtime.UnixNano(), ctime: n.ctime.UnixNano(), size: size},
	}
	if s.cfg.Version != V3 {
		a.id.count = n.change
	}
	return a
}

// get finds what a handle stands for.
func (s *Server) get(h handle) (*inode, error) {
	n := s.inodes[h.ino]
	if n == nil || n.gen != h.gen {
		return nil, syscall.ESTALE
	}
	return n, nil
}

// folder finds a folder that still has a name.
func (s *Server) folder(h handle) (*inode, error) {
	n, err := s.get(h)
	switch {
	case err != nil:
		return nil, err
	case !n.isDir():
		return nil, syscall.ENOTDIR
	case n.nlink == 0:
		return nil, syscall.ENOENT
	}
	return n, nil
}

// alloc makes an inode. The number that was freed last is used first, which is
// what ext4 does more often than not.
func (s *Server) alloc(mode fs.FileMode) *inode {
	s.gen++
	n := &inode{handle: handle{gen: s.gen}, mode: mode}
	if k := len(s.free); k > 0 {
		n.ino, s.free = s.free[k-1], s.free[:k-1]
	} else {
		s.last++
		n.ino = s.last
	}
	s.inodes[n.ino] = n
	if mode.IsDir() {
		n.entries = map[string]*inode{}
		n.nlink = 2
	}
	s.touch(n)
	return n
}

// release frees n if nothing names it and nobody has it open.
func (s *Server) release(n *inode) {
	if n.nlink > 0 || n.opens > 0 || s.inodes[n.ino] != n {
		return
	}
	delete(s.inodes, n.ino)
	if !s.cfg.AsyncExport { // else a power cut can bring it back
		s.free = append(s.free, n.ino)
	}
}

// touch dates a change of n's content and attributes, turn one of its attributes.
func (s *Server) touch(n *inode) {
	n.mtime = s.stamp()
	s.turn(n)
}

func (s *Server) turn(n *inode) {
	n.ctime = s.stamp()
	n.change++
}

// enter puts n into dir under name, or takes the name away if n is nil. Counts of
// links are kept; a file that loses its last name is released.
func (s *Server) enter(dir *inode, name string, n *inode) {
	old := dir.entries[name]
	if n == nil {
		delete(dir.entries, name)
	} else {
		dir.entries[name] = n
		if n.isDir() {
			n.parent = dir
			dir.nlink++
		} else {
			n.nlink++
			s.turn(n)
		}
	}
	if old != nil {
		if old.isDir() {
			dir.nlink--
		} else {
			old.nlink--
			s.turn(old)
		}
	}
	s.touch(dir)
}

// drop ends an inode's life after its last name went.
func (s *Server) drop(n *inode) {
	if n.isDir() {
		n.nlink = 0
	}
	s.release(n)
}

func (n *inode) list() []fsys.DirEntry {
	list := make([]fsys.DirEntry, 0, len(n.entries))
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		e := n.entries[name]
		list = append(list, fsys.DirEntry{Name: name, Ino: e.ino, Type: e.mode.Type()})
	}
	return list
}

// within reports whether n is dir or below it.
func (n *inode) within(dir *inode) bool {
	for ; n != nil; n = n.parent {
		if n == dir {
			return true
		}
	}
	return false
}
