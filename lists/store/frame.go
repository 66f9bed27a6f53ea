package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// A framed file is a line that says what it is, lines of JSON, and a line with the
// CRC-32C and the length of all before it:
//
//	qrunner record 1
//	{"n":7,"kind":"commit",...}
//	end 1c291ca3 214
const (
	magic   = "qrunner"
	version = 1
	maxLine = 16 << 20 // octets; a commit that needs more takes a side file
)

// framer writes a framed file.
type framer struct {
	w   *bufio.Writer
	crc uint32
	n   int64
	err error
}

func newFramer(w io.Writer, kind string) *framer {
	f := &framer{w: bufio.NewWriterSize(w, 64<<10)}
	f.write(fmt.Appendf(nil, "%s %s %d\n", magic, kind, version))
	return f
}

func (f *framer) write(p []byte) {
	if f.err != nil {
		return
	}
	f.crc = crc32.Update(f.crc, castagnoli(), p)
	f.n += int64(len(p))
	_, f.err = f.w.Write(p)
}

// line adds a line of JSON.
func (f *framer) line(v any) {
	p, err := json.Marshal(v)
	if err == nil && len(p) > maxLine {
		err = fmt.Errorf("line of %d octets, at most %d", len(p), maxLine)
	}
	if err != nil {
		f.err = errors.Join(f.err, err)
		return
	}
	f.write(append(p, '\n'))
}

// end writes the last line and returns the first error there was.
func (f *framer) end() error {
	if f.err != nil {
		return f.err
	}
	fmt.Fprintf(f.w, "end %08x %d\n", f.crc, f.n)
	return f.w.Flush()
}

// deframer reads a framed file. Nothing that it gave may be used before more has
// returned io.EOF: only then is the file known to be whole.
type deframer struct {
	r   *bufio.Reader
	buf []byte
	crc uint32
	n   int64
}

// newDeframer reads the first line. A version that it does not know is ErrNewer.
func newDeframer(r io.Reader, kind string) (*deframer, error) {
	d := &deframer{r: bufio.NewReaderSize(r, 64<<10)}
	line, err := d.raw()
	if err != nil {
		return nil, noEOF(err)
	}
	word := strings.Split(string(line), " ")
	if len(word) != 3 || word[0] != magic || word[1] != kind {
		return nil, fmt.Errorf("first line %.40q is not that of a %s", line, kind)
	}
	v, err := strconv.Atoi(word[2])
	if err != nil || v < 1 {
		return nil, fmt.Errorf("first line %.40q has no version", line)
	}
	if v > version {
		return nil, fmt.Errorf("%s of format %d: %w", kind, v, ErrNewer)
	}
	d.sum(line)
	return d, nil
}

// next gives the next line of JSON, valid until the next call. io.EOF means that
// the file is complete and its checksum right.
func (d *deframer) next() ([]byte, error) {
	line, err := d.raw()
	if err != nil {
		return nil, noEOF(err)
	}
	if !bytes.HasPrefix(line, []byte("end ")) {
		d.sum(line)
		return line, nil
	}
	if want := fmt.Sprintf("end %08x %d", d.crc, d.n); string(line) != want {
		return nil, fmt.Errorf("last line %.40q, want %q", line, want)
	}
	if _, err := d.r.ReadByte(); err != io.EOF {
		if err == nil {
			err = errors.New("octets behind the last line")
		}
		return nil, err
	}
	return nil, io.EOF
}

// into decodes the next line strictly.
func (d *deframer) into(v any) error {
	line, err := d.next()
	if err != nil {
		return noEOF(err)
	}
	return strict(line, v)
}

// done wants the end of the file.
func (d *deframer) done() error {
	line, err := d.next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("unexpected line %.40q", line)
	}
	return err
}

// verdict is err, an error met on the way, unless the file turns out not to be
// whole: then its lines mean nothing, and that is the error.
func (d *deframer) verdict(err error) error {
	for err != nil {
		if _, ferr := d.next(); ferr == io.EOF {
			return err
		} else if ferr != nil {
			return noEOF(ferr)
		}
	}
	return nil
}

func (d *deframer) sum(line []byte) {
	d.crc = crc32.Update(d.crc, castagnoli(), line)
	d.crc = crc32.Update(d.crc, castagnoli(), []byte{'\n'})
	d.n += int64(len(line)) + 1
}

// raw reads one line, without its end.
func (d *deframer) raw() ([]byte, error) {
	d.buf = d.buf[:0]
	for {
		part, err := d.r.ReadSlice('\n')
		if err == nil && len(d.buf) == 0 {
			return part[:len(part)-1], nil
		}
		if len(d.buf)+len(part) > maxLine+1 {
			return nil, errors.New("line too long")
		}
		d.buf = append(d.buf, part...)
		if err == nil {
			return d.buf[:len(d.buf)-1], nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
