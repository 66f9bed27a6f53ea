package canon

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// BodySum hashes a body in a canonical form (RFC 6376 §3.4.3, §3.4.4). Lines end with
// CRLF or LF, which counts as CRLF, as it does once the message is sent.
func BodySum(body []byte, f Form) Sum {
	s, _ := BodySumLimit(body, f, -1)
	return s
}

// BodySumLimit hashes the first limit octets of the canonical form (the l= tag, §3.5);
// a limit below 0 is none. It also tells how long the whole canonical form is.
func BodySumLimit(body []byte, f Form, limit int64) (Sum, int64) {
	w := &bodyWriter{hash: sha256.New(), limit: limit, buf: make([]byte, 0, 8<<10)}
	empty := 0 // empty lines not yet written: at the end they do not count
	for len(body) > 0 {
		var line []byte
		line, body = cutLine(body)
		if f == Relaxed {
			line = bytes.TrimRight(line, " \t")
		}
		if len(line) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			write(w, crlf)
		}
		if f == Relaxed && hasRun(line) {
			w.writeSqueezed(line)
		} else {
			write(w, line)
		}
		write(w, crlf)
	}
	if f == Simple && w.total == 0 {
		write(w, crlf)
	}
	w.flush()
	return sum(w.hash), w.total
}

// crlf is a string so that nobody can change it.
const crlf = "\r\n"

// hasRun reports whether a line has blanks that the relaxed form changes.
func hasRun(line []byte) bool {
	return bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("  "))
}

// write takes text or octets; both without a copy but the one into the buffer.
func write[T ~string | ~[]byte](w *bodyWriter, b T) {
	w.total += int64(len(b))
	if w.limit >= 0 {
		b = b[:min(int64(len(b)), max(0, w.limit-(w.total-int64(len(b)))))]
	}
	if len(w.buf)+len(b) > cap(w.buf) {
		w.flush()
	}
	if len(b) > cap(w.buf) {
		w.hash.Write([]byte(b))
		return
	}
	w.buf = append(w.buf, b...)
}

// bodyWriter hashes the first limit octets of what it gets, in large pieces.
type bodyWriter struct {
	hash  hash.Hash
	limit int64
	total int64
	buf   []byte
	line  []byte // scratch
}

func (w *bodyWriter) writeSqueezed(line []byte) {
	w.line = w.line[:0]
	for len(line) > 0 {
		i := bytes.IndexAny(line, " \t")
		if i < 0 {
			break
		}
		w.line = append(append(w.line, line[:i]...), ' ')
		line = bytes.TrimLeft(line[i:], " \t")
	}
	w.line = append(w.line, line...)
	write(w, w.line)
}

func (w *bodyWriter) flush() {
	w.hash.Write(w.buf)
	w.buf = w.buf[:0]
}
