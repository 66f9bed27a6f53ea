package spool

import (
	"errors"
	"fmt"
	"time"

	"qrunner/queue"
)

// CorruptError: what was read, cleanly, is not what was once written as an entry.
type CorruptError struct {
	// Name is the file, from the share's root; empty where only octets were given.
	Name string
	// Why says what is wrong, for people.
	Why string
}

// Error names the file and what is wrong with it.
func (e *CorruptError) Error() string { return fmt.Sprintf("corrupt entry %s: %s", e.Name, e.Why) }

// ErrNewer: the file was written by a newer version of qrunner. It is left alone.
var ErrNewer = errors.New("written by a newer version of qrunner")

// Encode makes an entry's file. It refuses what Decode would.
func Encode(e *queue.Entry) ([]byte, error) { return nil, errors.ErrUnsupported }

// Decode reads an entry's file: *CorruptError or ErrNewer.
func Decode(data []byte) (*queue.Entry, error) { return nil, errors.ErrUnsupported }

// Reseal takes an entry's file that a person has edited and makes length and
// checksum right again. The message is what stands between the first empty line
// and the last END line.
func Reseal(data []byte) ([]byte, error) { return nil, errors.ErrUnsupported }

// RetryName is the name of a waiting fan-out below queue/retry: names sort by due.
func RetryName(due time.Time, id queue.ID) string {
	return fmt.Sprintf("%016x.%s", uint64(due.UnixMicro()), id)
}

// ParseRetryName takes a RetryName apart.
func ParseRetryName(name string) (time.Time, queue.ID, error) {
	return time.Time{}, "", errors.ErrUnsupported
}
