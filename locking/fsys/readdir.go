package fsys

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Offsets in struct linux_dirent64 (getdents64(2)); package os drops d_ino, which
// is what a lock's ownership is read from.
const (
	direntIno    = 0
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

func readDir(fd int) ([]DirEntry, error) {
	list := make([]DirEntry, 0, 8)
	var room [8 << 10]byte // does not escape
	buf := room[:]
	for {
		n, err := retryFD(func() (int, error) { return unix.Getdents(fd, buf) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for rec := buf[:n]; len(rec) > direntName; {
			size := int(binary.NativeEndian.Uint16(rec[direntReclen:]))
			if e, ok := dirEntry(rec[:size]); ok {
				list = append(list, e)
			}
			rec = rec[size:]
		}
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func dirEntry(rec []byte) (DirEntry, bool) {
	name := rec[direntName:]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	e := DirEntry{Name: string(name), Ino: binary.NativeEndian.Uint64(rec[direntIno:])}
	switch rec[direntType] {
	case unix.DT_DIR:
		e.Type = fs.ModeDir
	case unix.DT_LNK:
		e.Type = fs.ModeSymlink
	}
	return e, e.Name != "." && e.Name != ".."
}
