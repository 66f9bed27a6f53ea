package spool

import (
	"bytes"
	"errors"
	"fmt"

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
func (e *CorruptError) Error() string {
	if e.Name == "" {
		return "corrupt entry: " + e.Why
	}
	return fmt.Sprintf("corrupt entry %s: %s", e.Name, e.Why)
}

// States of an entry's file that callers branch on.
var (
	// ErrNewer: the file was written by a newer version of qrunner. It is left alone.
	ErrNewer = errors.New("written by a newer version of qrunner")
	// ErrTooLarge: the entry would be larger than MaxSize.
	ErrTooLarge = errors.New("entry too large")
)

// MaxSize is the largest entry's file, in octets: nobody writes a larger one, and a
// larger file in a queue is no entry. What mail may be so large is intake's to say.
const MaxSize = 256 << 20

// headRoom is what a message must leave of MaxSize to its header.
const headRoom = 1 << 20

const (
	kindEntry  = "entry"
	kindFanout = "fanout"
)

// Encode makes an entry's file. It refuses what Decode would.
func Encode(e *queue.Entry) ([]byte, error) {
	p := page{Entry: *e}
	if e.ID == "" || e.Queue == "" || e.List == "" {
		return nil, fmt.Errorf("encode entry: no id, queue or list (%q, %q, %q)", e.ID, e.Queue, e.List)
	}
	return p.encode(kindEntry)
}

// Decode reads an entry's file: *CorruptError or ErrNewer. The entry's Raw is part
// of data, which must not change afterwards.
func Decode(data []byte) (*queue.Entry, error) {
	p, err := decode(kindEntry, data)
	if err != nil {
		return nil, err
	}
	return &p.Entry, nil
}

// Reseal takes an entry's file that a person has edited and makes the order of the
// fields, the length and the checksum right again. The message is what stands
// between the first empty line and the last END line.
func Reseal(data []byte) ([]byte, error) {
	fields, body, err := split(kindEntry, data)
	if err != nil {
		return nil, fmt.Errorf("reseal entry: %w", err)
	}
	var p page
	if err := p.read(fields); err != nil {
		return nil, fmt.Errorf("reseal entry: %w", err)
	}
	p.Raw = body
	return Encode(&p.Entry)
}

func (p *page) encode(kind string) ([]byte, error) {
	if len(p.Raw) > MaxSize-headRoom {
		return nil, fmt.Errorf("encode %s %s: %w", kind, p.ID, ErrTooLarge)
	}
	data := seal(kind, p.fields(), p.Raw)
	if len(data) > MaxSize {
		return nil, fmt.Errorf("encode %s %s: %w", kind, p.ID, ErrTooLarge)
	}
	if _, err := decode(kind, data); err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", kind, p.ID, err)
	}
	return data, nil
}

// decode is strict by one comparison: the file must be what encoding its content
// gives. So there is one form for each content, and no flipped bit passes.
func decode(kind string, data []byte) (*page, error) {
	fields, body, err := split(kind, data)
	if errors.Is(err, ErrNewer) {
		return nil, err
	}
	p := &page{fanout: kind == kindFanout}
	if err == nil {
		err = p.read(fields)
	}
	if err != nil {
		return nil, &CorruptError{Why: err.Error()}
	}
	p.Raw = body
	head := blockHead(kind, p.fields(), len(body))
	rest, ok := bytes.CutPrefix(data, head)
	if !ok {
		return nil, &CorruptError{Why: "header fields or length do not add up"}
	}
	if !bytes.HasPrefix(rest, []byte(sumField+": "+blockSum(head, body)+"\n\n")) {
		return nil, &CorruptError{Why: "checksum does not match"}
	}
	return p, nil
}
