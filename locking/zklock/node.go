package zklock

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"qrunner/locking"
)

// Naming is how a lock's contenders are called. A Locker understands both kinds, so
// that two hosts with different settings exclude each other all the same.
type Naming string

// The namings. NamingKazoo is for locks that are shared with kazoo's Lock, ReadLock and
// WriteLock on the same path, which see no other names.
const (
	NamingQrunner Naming = "qrunner" // <32 hex digits>-x-<number>, -s- for shared
	NamingKazoo   Naming = "kazoo"   // <32 hex digits>__lock__<number>, __rlock__ for shared
)

// kind is one sort of contender: mark stands between the random part of its name and the
// number.
type kind struct {
	naming Naming
	mode   locking.Mode
	mark   string
}

var kinds = []kind{
	{NamingQrunner, locking.Exclusive, "-x-"},
	{NamingQrunner, locking.Shared, "-s-"},
	{NamingKazoo, locking.Exclusive, "__lock__"},
	{NamingKazoo, locking.Shared, "__rlock__"},
}

// guidLen is the length of the random part: 128 bits in hex.
const guidLen = 32

// node is one contender for a lock.
type node struct {
	name string
	seq  int32
	mode locking.Mode
}

// prefix is a contender's name without the number, which the server appends.
func prefix(n Naming, guid string, m locking.Mode) string {
	for _, k := range kinds {
		if k.naming == n && k.mode == m {
			return guid + k.mark
		}
	}
	panic("zklock: no such naming or mode") // both are checked before
}

// parseNode reads a contender's name; ok is false for any other. In kazoo's naming
// anything may stand in front of the mark, as kazoo itself has it.
func parseNode(name string) (n node, ok bool) {
	for _, k := range kinds {
		i := strings.LastIndex(name, k.mark)
		if i < 0 || k.naming == NamingQrunner && !isGUID(name[:i]) {
			continue
		}
		if seq, ok := parseSeq(name[i+len(k.mark):]); ok {
			return node{name, seq, k.mode}, true
		}
	}
	return node{}, false
}

// parseSeq reads the number that the server appended, which is a signed 32-bit one
// printed with %010d: ten characters, or the eleven that it needs.
func parseSeq(s string) (int32, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	if len(s) != 10 && !(negative && len(digits) == 10 && digits[0] != '0') || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 32)
	return int32(v), err == nil && negative == (v < 0)
}

func isGUID(s string) bool {
	return len(s) == guidLen && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
}

// before reports whether a came before b, as numbers that wrap.
func before(a, b node) bool { return b.seq-a.seq > 0 }

// excludes reports whether two contenders cannot hold the lock together.
func excludes(a, b locking.Mode) bool { return a == locking.Exclusive || b == locking.Exclusive }

// contenders picks the contenders out of a listing, first come first.
func contenders(names []string) []node {
	var out []node
	for _, name := range names {
		if n, ok := parseNode(name); ok {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b node) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// predecessor finds the nearest contender that own has to wait for. listed reports
// whether own itself is there.
func predecessor(names []string, own node) (pred node, wait, listed bool) {
	for _, name := range names {
		if name == own.name {
			listed = true
			continue
		}
		n, ok := parseNode(name)
		if ok && before(n, own) && excludes(n.mode, own.mode) && (!wait || before(pred, n)) {
			pred, wait = n, true
		}
	}
	return pred, wait, listed
}

// checkSegment reports why s cannot be part of a lock's path.
func checkSegment(s string) error {
	if _, ok := parseNode(s); ok {
		return errors.New("a segment looks like a contender for a lock")
	}
	if s == "" || s == "." || s == ".." {
		return errors.New("a segment is empty, \".\" or \"..\"")
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, forbidden) {
		return errors.New("a character that ZooKeeper does not allow")
	}
	return nil
}

// forbidden are the characters that ZooKeeper refuses in a path.
func forbidden(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xe000 && r <= 0xf8ff || r >= 0xfff0 && r <= 0xffff
}
