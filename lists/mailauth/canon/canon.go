// Package canon has what DKIM (RFC 6376) and ARC (RFC 8617) have in common:
// canonical forms, tag lists, and the digest that a signature is made over.
package canon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"strings"

	"qrunner/lists/message"
)

// Form is a canonical form (RFC 6376 §3.4).
type Form string

// The two forms.
const (
	Simple  Form = "simple"
	Relaxed Form = "relaxed"
)

// Sum is a SHA-256 sum.
type Sum = [sha256.Size]byte

// ErrForm: the c= tag names a form that does not exist.
var ErrForm = errors.New("unknown canonical form")

// ParseForms reads the value of a c= tag that is there (§3.5).
func ParseForms(c string) (header, body Form, err error) {
	h, b, both := strings.Cut(c, "/")
	if !both {
		b = string(Simple)
	}
	for _, f := range []string{h, b} {
		if f != string(Simple) && f != string(Relaxed) {
			return "", "", fmt.Errorf("%w: %q", ErrForm, c)
		}
	}
	return Form(h), Form(b), nil
}

// AppendField appends a header field (with its line end) in a canonical form.
func AppendField(dst, raw []byte, f Form) []byte {
	if f == Simple {
		for len(raw) > 0 {
			line, rest := cutLine(raw)
			dst, raw = append(append(dst, line...), "\r\n"...), rest
		}
		return dst
	}
	name, value, _ := bytes.Cut(raw, []byte(":"))
	for _, c := range bytes.TrimSpace(name) {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	dst = append(dst, ':')
	start := len(dst)
	for len(value) > 0 {
		var line []byte
		line, value = cutLine(value)
		dst = appendSqueezed(dst, line)
	}
	// Blanks at a fold were squeezed line by line; those at both ends go.
	text := bytes.Trim(dst[start:], " ")
	dst = append(dst[:start], text...)
	return append(dst, "\r\n"...)
}

// appendSqueezed appends line with each run of blanks as one blank, a run that dst
// ends with included.
func appendSqueezed(dst, line []byte) []byte {
	for _, c := range line {
		if c == '\t' {
			c = ' '
		}
		if c == ' ' && len(dst) > 0 && dst[len(dst)-1] == ' ' {
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// cutLine takes the first line without its end, CRLF or LF.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	return bytes.TrimSuffix(b[:i], []byte("\r")), b[i+1:]
}

// Digest hashes what a signature is made over (RFC 6376 §3.7): the fields that names
// lists, of several with one name the lowest first, and last the signature's own
// field, its b= empty. own is its index in fields, or -1 with raw for one that is
// not there yet; it is not taken for a field that names lists.
func Digest(fields []message.Field, names []string, own int, raw []byte, f Form) Sum {
	if own >= 0 {
		raw = fields[own].Raw
	}
	h := sha256.New()
	var buf []byte
	for _, i := range pick(fields, names, own) {
		buf = AppendField(buf[:0], fields[i].Raw, f)
		h.Write(buf)
	}
	h.Write(Own(raw, f))
	return sum(h)
}

// Own is the canonical form of a signature's own field: b= empty, no line end.
func Own(raw []byte, f Form) []byte {
	return bytes.TrimSuffix(AppendField(nil, withoutB(raw), f), []byte("\r\n"))
}

// pick finds the fields that names lists, in its order.
func pick(fields []message.Field, names []string, own int) []int {
	at := map[string][]int{}
	for i, f := range fields {
		if i != own && f.Name != "" {
			name := strings.ToLower(f.Name)
			at[name] = append(at[name], i)
		}
	}
	out := make([]int, 0, len(names))
	for _, n := range names {
		n = strings.ToLower(n)
		if left := at[n]; len(left) > 0 {
			out = append(out, left[len(left)-1])
			at[n] = left[:len(left)-1]
		}
	}
	return out
}

// withoutB is the field with the value of its b= tag deleted, blanks around included.
func withoutB(raw []byte) []byte {
	colon := bytes.IndexByte(raw, ':') + 1
	for start := colon; start < len(raw); {
		end := len(raw)
		if i := bytes.IndexByte(raw[start:], ';'); i >= 0 {
			end = start + i
		}
		name, _, ok := bytes.Cut(raw[start:end], []byte("="))
		if ok && string(bytes.TrimSpace(name)) == "b" {
			head := raw[: start+len(name)+1 : start+len(name)+1]
			return append(head, raw[end:]...)
		}
		start = end + 1
	}
	return raw
}

func sum(h hash.Hash) Sum { return Sum(h.Sum(nil)) }
