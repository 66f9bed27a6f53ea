package simfs

import (
	"bytes"
	"maps"
	"slices"
)

// edit is a change of one name; a nil node takes it away.
type edit struct {
	dir  *inode
	name string
	node *inode
}

// edits is one change of the tree: durable as a whole or not at all.
type edits []edit

// note remembers a change that is not durable before a sync of its folder.
func (s *Server) note(list ...edit) {
	if s.cfg.AsyncExport {
		s.pending = append(s.pending, list)
	}
}

func (e edits) settle() {
	for _, x := range e {
		switch {
		case x.node == nil:
			delete(x.dir.durable, x.name)
		case x.dir.durable == nil:
			x.dir.durable = map[string]*inode{x.name: x.node}
		default:
			x.dir.durable[x.name] = x.node
		}
	}
}

// syncDir makes the changes in a folder durable.
func (s *Server) syncDir(dir handle) error {
	n, err := s.get(dir)
	if err != nil {
		return err
	}
	s.pending = s.settle(func(e edits) bool {
		return slices.ContainsFunc(e, func(x edit) bool { return x.dir == n })
	})
	return nil
}

// settle makes the pending changes that chosen picks durable, and with each the earlier
// ones of the same names: no disk puts an older state of a name over a newer one. It
// returns the others.
func (s *Server) settle(chosen func(edits) bool) (rest []edits) {
	type entry struct {
		dir  *inode
		name string
	}
	touched := map[entry]bool{}
	durable := make([]bool, len(s.pending))
	for i, e := range slices.Backward(s.pending) {
		durable[i] = chosen(e) || slices.ContainsFunc(e, func(x edit) bool { return touched[entry{x.dir, x.name}] })
		for _, x := range e {
			if durable[i] {
				touched[entry{x.dir, x.name}] = true
			}
		}
	}
	for i, e := range s.pending {
		if durable[i] {
			e.settle()
		} else {
			rest = append(rest, e)
		}
	}
	return rest
}

// PowerCut is a power cut of the server and its boot. File content that no
// File.Sync followed is kept, lost or cut short, and (with AsyncExport or Local)
// each directory change that no Dir.Sync followed is kept or lost, as coins thrown
// with Config.Seed say. The server forgets its answers and what was open. Hosts
// live on: with Local, where they are the same machine, crash them first.
func (s *Server) PowerCut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(func(edits) bool { return s.coin.IntN(2) == 0 })
	s.pending = nil
	s.ghosts = nil
	s.boot++
	old := s.inodes
	s.inodes = map[uint64]*inode{}
	for _, n := range old {
		n.opens = 0
		if !n.isDir() || s.cfg.AsyncExport {
			n.nlink = 0
		}
	}
	s.recover(s.root)
	for _, ino := range slices.Sorted(maps.Keys(old)) {
		if s.inodes[ino] == nil && !s.cfg.AsyncExport {
			s.free = append(s.free, ino)
		}
	}
	s.wake()
}

// recover rebuilds the tree below dir as it is on the disk.
func (s *Server) recover(dir *inode) {
	s.inodes[dir.ino] = dir
	dir.nlink = 2
	if s.cfg.AsyncExport {
		dir.entries = maps.Clone(dir.durable)
		if dir.entries == nil {
			dir.entries = map[string]*inode{}
		}
		s.turn(dir)
	}
	for _, name := range slices.Sorted(maps.Keys(dir.entries)) {
		n := dir.entries[name]
		if n.isDir() {
			dir.nlink++
			n.parent = dir
			s.recover(n)
			continue
		}
		n.nlink++
		if s.inodes[n.ino] == nil {
			s.inodes[n.ino] = n
			s.tear(n)
		}
	}
}

// tear decides what is left of a file's content.
func (s *Server) tear(n *inode) {
	if bytes.Equal(n.data, n.stable) {
		return
	}
	switch s.coin.IntN(3) {
	case 0:
	case 1:
		n.data = n.stable
	case 2:
		low := 0 // never less than what was synced, as far as it is unchanged
		for low < len(n.stable) && low < len(n.data) && n.stable[low] == n.data[low] {
			low++
		}
		n.data = bytes.Clone(n.data[:low+s.coin.IntN(len(n.data)-low+1)])
	}
	n.stable = n.data
	s.turn(n)
}
