package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"qrunner/locking/fsys"
	"qrunner/queue"
)

// The files of a fan-out's folder that WriteFanout makes. Journals are queue/fanout's.
const (
	// MessageFile has the envelope and the message, in the form of an entry's file.
	MessageFile = "message"
	// RecipientsFile has one line per recipient.
	RecipientsFile = "recipients"
)

// WriteFanout makes the folder dir (from the share's root; its parent must exist)
// with message and recipients, all on stable storage when it returns but for dir's
// own name in its parent. dir must be the caller's own name.
func WriteFanout(ctx context.Context, f fsys.FS, dir string, fo *queue.Fanout) error {
	_, err := writeFanout(ctx, f, dir, fo)
	return err
}

// writeFanout returns the message file's sum, which stands for the recipients' too.
func writeFanout(ctx context.Context, f fsys.FS, dir string, fo *queue.Fanout) (string, error) {
	if err := f.Mkdir(dir, fsys.DirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("write fan-out: %w", err)
	}
	p := page{fanout: true, verp: fo.VERP, form: fo.Readable, bulk: fo.Bulk, bounces: fo.Bounces, copies: fo.Copies, count: len(fo.Recipients)}
	p.List, p.Envelope, p.Raw, p.Meta.PostID = fo.List, fo.Envelope, fo.Raw, fo.PostID
	err := fsys.WriteNew(f, path.Join(dir, RecipientsFile), func(w io.Writer) (err error) {
		p.sum, err = writeRecipients(ctx, w, fo.Recipients)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("write fan-out: %w", err)
	}
	data, err := p.encode(kindFanout)
	if err != nil {
		return "", fmt.Errorf("write fan-out: %w", err)
	}
	err = fsys.WriteNew(f, path.Join(dir, MessageFile), func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err == nil {
		err = fsys.SyncDir(f, dir)
	}
	if err != nil {
		return "", fmt.Errorf("write fan-out: %w", err)
	}
	return sumOf(data), nil
}

// ReadFanout reads the message of a fan-out, and the index of its recipients. The
// Fanout's own Recipients stay nil. Errors as of Spool.Load; fs.ErrNotExist means
// that the folder, or its recipients file, is not there (any more). Where only the
// recipients cannot be read, the Fanout comes with the error.
func ReadFanout(ctx context.Context, f fsys.FS, dir string) (*queue.Fanout, *Recipients, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("read fan-out: %w", err)
	}
	name := path.Join(dir, MessageFile)
	data, err := readClean(f, name)
	if err != nil {
		return nil, nil, fmt.Errorf("read fan-out: %w", err)
	}
	p, err := decode(kindFanout, data)
	if err != nil {
		return nil, nil, fmt.Errorf("read fan-out: %w", named(err, name))
	}
	r := &Recipients{fs: f, name: path.Join(dir, RecipientsFile), count: p.count}
	fo := &queue.Fanout{
		List: p.List, Envelope: p.Envelope, Raw: p.Raw, PostID: p.Meta.PostID,
		VERP: p.verp, Readable: p.form, Copies: p.copies, Bounces: p.bounces, Bulk: p.bulk,
	}
	if err := r.readIndex(p.sum); err != nil {
		return fo, nil, fmt.Errorf("read fan-out: %w", err)
	}
	return fo, r, nil
}
