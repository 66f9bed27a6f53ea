package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"qrunner/locking/fsys"
)

// encodeRecord is the whole file of a record.
func encodeRecord(r *Record) ([]byte, error) {
	var b bytes.Buffer
	f := newFramer(&b, "record")
	f.line(r)
	if err := f.end(); err != nil {
		return nil, fmt.Errorf("record %d: %w", r.N, err)
	}
	return b.Bytes(), nil
}

// decodeRecord reads a record's file. An error that is not ErrNewer means that the
// file is not what was written.
func decodeRecord(data []byte) (*Record, error) {
	d, err := newDeframer(bytes.NewReader(data), "record")
	if err != nil {
		return nil, err
	}
	line, err := d.next()
	if err != nil {
		return nil, noEOF(err)
	}
	body := bytes.Clone(line)
	if err := d.done(); err != nil {
		return nil, err
	}
	var r Record
	if err := strict(body, &r); err != nil {
		return nil, err
	}
	if r.N == 0 || !knownKind(r.Kind) {
		return nil, fmt.Errorf("record of kind %q: %w", r.Kind, ErrNewer)
	}
	return &r, nil
}

func knownKind(k RecordKind) bool {
	switch k {
	case KindCreate, KindFence, KindCommit, KindRelease, KindDelete:
		return true
	}
	return false
}

// readRecord reads record n. A clean read of something else is a *CorruptError; an
// error of the share stays what it is.
func readRecord(f fsys.FS, name string, n uint64) (*Record, error) {
	data, err := fsys.ReadFile(f, name, maxLine+1<<10)
	if err != nil {
		return nil, unreadable(name, err)
	}
	r, err := decodeRecord(data)
	if err != nil {
		return nil, damaged(name, err)
	}
	if r.N != n {
		return nil, damaged(name, fmt.Errorf("it is record %d", r.N))
	}
	return r, nil
}

// damaged tells a file that is broken from one that is only too new.
func damaged(name string, err error) error {
	var perr *fs.PathError
	if errors.Is(err, ErrNewer) || errors.As(err, &perr) || fsys.Trouble(err) {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return &CorruptError{File: name, Err: err}
}

// unreadable classifies an error of reading itself.
func unreadable(name string, err error) error {
	if errors.Is(err, fsys.ErrTooLarge) {
		return &CorruptError{File: name, Err: err}
	}
	return err
}
