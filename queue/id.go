package queue

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID names an entry; also its file's name. IDs sort as text in the order of their
// acknowledgement: an entry that was acknowledged before another began sorts first
// (or both carry the same server tick).
type ID string

// ErrBadID: the text is no entry's name.
var ErrBadID = errors.New("not an entry id")

// NewID makes a name: when is the server's time (the mtime of a file that was just
// written), seq counts this process's entries, host is this host's short name,
// random makes it unique whatever the clocks and counters do.
func NewID(when time.Time, seq uint64, host string, random uint64) ID {
	return ID(fmt.Sprintf("%016x.%08x.%s.%016x", uint64(when.UnixMicro()), uint32(seq), hostPart(host), random))
}

// hostPart keeps a host name to what is safe in a file name, at most 40 octets.
func hostPart(h string) string {
	h = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, h)
	return cmp.Or(h[:min(len(h), 40)], "x")
}

// ParseID checks the form of a name.
func ParseID(s string) (ID, error) {
	part := strings.Split(s, ".")
	if len(part) != 4 || len(part[0]) != 16 || len(part[1]) != 8 || part[2] == "" || len(part[2]) > 40 || len(part[3]) != 16 {
		return "", fmt.Errorf("%w: %q", ErrBadID, s)
	}
	for _, i := range []int{0, 1, 3} {
		if _, err := strconv.ParseUint(part[i], 16, 64); err != nil || strings.ToLower(part[i]) != part[i] {
			return "", fmt.Errorf("%w: %q", ErrBadID, s)
		}
	}
	if part[2] != hostPart(part[2]) {
		return "", fmt.Errorf("%w: %q", ErrBadID, s)
	}
	return ID(s), nil
}

// Time is when the entry was made, by the server's clock.
func (id ID) Time() time.Time {
	us, err := strconv.ParseUint(string(id[:min(len(id), 16)]), 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(int64(us))
}
