package spool

import (
	"context"
	"errors"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// The files of a fan-out's folder that WriteFanout makes. Journals are queue/fanout's.
const (
	MessageFile    = "message"
	RecipientsFile = "recipients"
)

// WriteFanout makes the folder dir (from the share's root; its parent must exist)
// with message and recipients, all on stable storage when it returns but for dir's
// own name in its parent.
func WriteFanout(ctx context.Context, f fsys.FS, dir string, fo *queue.Fanout) error {
	return errors.ErrUnsupported
}

// ReadFanout reads the message of a fan-out, and the index of its recipients. The
// Fanout's own Recipients stay nil. Errors as of Spool.Load.
func ReadFanout(ctx context.Context, f fsys.FS, dir string) (*queue.Fanout, *Recipients, error) {
	return nil, nil, errors.ErrUnsupported
}

// Recipients reads ranges of a recipients file. It keeps no file open; any
// goroutine may use it.
type Recipients struct{ count int }

// Len is the number of recipients.
func (r *Recipients) Len() int { return r.count }

// Range reads the recipients from..to-1, checked against their sums. The file is
// opened under the folder's name as ReadFanout got it: fs.ErrNotExist means that
// the folder has moved on.
func (r *Recipients) Range(ctx context.Context, from, to int) ([]lists.Recipient, error) {
	return nil, errors.ErrUnsupported
}
