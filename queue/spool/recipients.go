package spool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// The recipients file is lines for people, and an index behind them for us:
//
//	qrunner recipients 1
//	member 12 anne@example.org          kind, member id, address
//	...
//	000000000021 <Sha256>               one line for each 1,000 recipients:
//	...                                 where they begin, and their checksum
//	000000001000 000000000000123 END    how many there are, where the index begins
//
// The message file has the checksum of the index and the last line. So any range
// is read, and proven, without reading the rest.
const (
	recipientsHead = "qrunner recipients 1\n"
	blockLines     = 1000
	indexLine      = len("000000000021 \n") + 2*sha256.Size
	lastLine       = len("000000001000 000000000000123 END\n")
)

// writeRecipients returns the checksum of index and last line.
func writeRecipients(ctx context.Context, w io.Writer, list []lists.Recipient) (string, error) {
	if _, err := io.WriteString(w, recipientsHead); err != nil {
		return "", err
	}
	var index, block bytes.Buffer
	at := len(recipientsHead)
	for from := 0; from < len(list); from += blockLines {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		block.Reset()
		for i := from; i < min(from+blockLines, len(list)); i++ {
			line, err := recipientLine(&list[i])
			if err != nil {
				return "", err
			}
			block.WriteString(line)
			block.WriteByte('\n')
		}
		fmt.Fprintf(&index, "%012d %s\n", at, sumOf(block.Bytes()))
		at += block.Len()
		if _, err := w.Write(block.Bytes()); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&index, "%012d %015d END\n", len(list), at)
	_, err := w.Write(index.Bytes())
	return sumOf(index.Bytes()), err
}

// recipientLine refuses what would not come back from its line as it went in.
func recipientLine(r *lists.Recipient) (string, error) {
	line := formatRecipient(r)
	got, err := parseRecipient(line)
	if err != nil || got != *r || !plain(line) {
		return "", fmt.Errorf("recipient %.80q cannot be written in one line", line)
	}
	return line, nil
}

// Recipients reads ranges of a recipients file. It keeps no file open; any
// goroutine may use it.
type Recipients struct {
	fs     fsys.FS
	name   string
	count  int
	starts []int64 // of blocks, and of the index behind the last
	sums   []string
}

// Len is the number of recipients.
func (r *Recipients) Len() int { return r.count }

// Range reads the recipients from..to-1, checked against their sums. The file is
// opened under the folder's name as ReadFanout got it: fs.ErrNotExist means that
// the folder has moved on.
func (r *Recipients) Range(ctx context.Context, from, to int) ([]lists.Recipient, error) {
	if from < 0 || to < from || to > r.count {
		return nil, fmt.Errorf("read recipients %d to %d of %d: out of range", from, to, r.count)
	}
	out := make([]lists.Recipient, 0, to-from)
	if from == to {
		return out, nil
	}
	f, err := r.fs.OpenFile(r.name, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("read recipients: %w", err)
	}
	defer f.Close()
	for b := from / blockLines; b*blockLines < to; b++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read recipients: %w", err)
		}
		lines, err := r.block(f, b)
		if err != nil {
			return nil, fmt.Errorf("read recipients: %w", err)
		}
		first := b * blockLines
		for _, line := range lines[max(from-first, 0):min(to-first, len(lines))] {
			one, err := parseRecipient(line)
			if err != nil {
				return nil, fmt.Errorf("read recipients: %w", r.corrupt(err.Error()))
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// block reads the lines of one block.
func (r *Recipients) block(f fsys.File, b int) ([]string, error) {
	buf := make([]byte, r.starts[b+1]-r.starts[b])
	if err := r.readAt(f, buf, r.starts[b]); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(buf), "\n"), "\n")
	if sumOf(buf) != r.sums[b] || len(lines) != min(blockLines, r.count-b*blockLines) {
		return nil, r.corrupt(fmt.Sprintf("checksum of recipients from %d on does not match", b*blockLines))
	}
	return lines, nil
}

// readIndex reads where the blocks are; sum is what the message file says of it.
func (r *Recipients) readIndex(sum string) error {
	f, err := r.fs.OpenFile(r.name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if r.count < 0 || int64(r.count) > st.Size {
		return r.corrupt("too short for its recipients")
	}
	blocks := (r.count + blockLines - 1) / blockLines
	size := int64(blocks*indexLine + lastLine)
	if st.Size < size+int64(len(recipientsHead)) {
		return r.corrupt("too short for its index")
	}
	buf := make([]byte, size)
	if err := r.readAt(f, buf, st.Size-size); err != nil {
		return err
	}
	if sumOf(buf) != sum {
		return r.corrupt("checksum of the index does not match")
	}
	return r.parseIndex(string(buf), st.Size-size)
}

// parseIndex takes an index apart that begins at the offset end.
func (r *Recipients) parseIndex(index string, end int64) error {
	for ; len(index) > lastLine; index = index[indexLine:] {
		at, err := strconv.ParseInt(strings.TrimLeft(index[:12], "0"), 10, 64)
		if err != nil || at > end || len(r.starts) > 0 && at < r.starts[len(r.starts)-1] {
			return r.corrupt("index is out of order")
		}
		r.starts = append(r.starts, at)
		r.sums = append(r.sums, index[13:13+hex.EncodedLen(sha256.Size)])
	}
	r.starts = append(r.starts, end)
	if index != fmt.Sprintf("%012d %015d END\n", r.count, end) {
		return r.corrupt("last line does not match")
	}
	return nil
}

func (r *Recipients) readAt(f fsys.File, buf []byte, at int64) error {
	n, err := f.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return r.corrupt("shorter than its index says")
	}
	return err
}

func (r *Recipients) corrupt(why string) error { return &CorruptError{Name: r.name, Why: why} }
