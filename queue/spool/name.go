package spool

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// root is the queues' folder on the share.
const root = "queue"

// Key is an entry's name in the list's log: "<queue>/<list>/<entry>". Attempt marks
// (store.MarkAttempt) use it too.
func Key(q queue.Name, list lists.ID, id queue.ID) string {
	return string(q) + "/" + string(list) + "/" + string(id)
}

// Dir is a list's folder in a queue, from the share's root.
func Dir(q queue.Name, list lists.ID) string { return path.Join(root, string(q), string(list)) }

// RetryName is the name of a waiting fan-out below queue/retry: names sort by due.
func RetryName(due time.Time, id queue.ID) string {
	return fmt.Sprintf("%016x.%s", uint64(due.UnixMicro()), id)
}

// ParseRetryName takes a RetryName apart.
func ParseRetryName(name string) (time.Time, queue.ID, error) {
	due, rest, ok := strings.Cut(name, ".")
	us, err := strconv.ParseUint(due, 16, 63)
	if !ok || err != nil || fmt.Sprintf("%016x", us) != due {
		return time.Time{}, "", fmt.Errorf("%w: %q has no due time", queue.ErrBadID, name)
	}
	id, err := queue.ParseID(rest)
	return time.UnixMicro(int64(us)), id, err
}

// tmpName is a new name in tmp/.
func (s *Spool) tmpName() string {
	return fmt.Sprintf("%s/tmp/%s.%016x", root, s.c.Host, s.c.Rand())
}

// newID names an entry that was made at a time of the server's clock.
func (s *Spool) newID(at time.Time) queue.ID {
	return queue.NewID(at, s.seq.Add(1), s.c.Host, s.c.Rand())
}

// entryNames are the names of a list's folder that are, or should be, entries:
// not dot files (NFS keeps removed files that are open as .nfs...), and nothing
// that a log record could not spell.
func entryNames(list []fsys.DirEntry) (names, odd []string) {
	for _, e := range list {
		switch {
		case strings.HasPrefix(e.Name, "."):
		case !utf8.ValidString(e.Name):
			odd = append(odd, e.Name)
		default:
			names = append(names, e.Name)
		}
	}
	return names, odd
}
