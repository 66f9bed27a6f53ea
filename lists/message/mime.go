package message

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// Limits of the MIME reader. What is over them is opaque: five octets make a part,
// so a small message could ask for any amount of memory or stack.
const (
	maxDepth = 20
	maxParts = 1000
)

// ErrOpaque: the message has more parts or levels than we look at.
var ErrOpaque = errors.New("MIME structure over the limits")

// Part is one entity of a message's structure (RFC 2045 §2.4).
type Part struct {
	Header *Message // its fields; no body
	Type   ContentType
	// Start and End delimit its content in the message's body, in octets.
	Start, End int
	Parts      []*Part
}

// Structure reads the message's MIME structure in one pass. The root is the message
// itself. A multipart whose boundary never comes has no parts; message/rfc822 is not
// looked into. ErrOpaque over the limits.
func (m *Message) Structure() (*Part, error) {
	r := &partReader{body: m.body, hit: -1}
	root := &Part{Header: m, Type: m.ContentType()}
	return root, r.read(root)
}

// Leaves yields the parts that have no parts themselves, in order.
func (p *Part) Leaves(yield func(*Part) bool) { p.leaves(yield) }

func (p *Part) leaves(yield func(*Part) bool) bool {
	if len(p.Parts) == 0 {
		return yield(p)
	}
	return !slices.ContainsFunc(p.Parts, func(c *Part) bool { return !c.leaves(yield) })
}

// Decode gives the part's content out of the message's body, its transfer encoding
// (RFC 2045 §6) undone as far as that is possible.
func (p *Part) Decode(body []byte) []byte {
	content := body[p.Start:p.End]
	switch p.Encoding() {
	case "base64":
		return fromBase64(content)
	case "quoted-printable":
		return fromQuoted(content)
	}
	return content
}

// Encoding is the content transfer encoding in lower case; 7bit where none is named.
func (p *Part) Encoding() string { return p.Header.Encoding() }

// Encoding is the content transfer encoding in lower case; 7bit where none is named.
func (m *Message) Encoding() string {
	e, _, _ := strings.Cut(strings.ToLower(m.Get("Content-Transfer-Encoding")), ";")
	if e = strings.TrimSpace(e); e == "" {
		return "7bit"
	}
	return e
}

// Text is the part's content as UTF-8; false unless it is text of a charset that we
// know and that it keeps to.
func (p *Part) Text(body []byte) (string, bool) {
	if !strings.HasPrefix(p.Type.Media, "text/") {
		return "", false
	}
	return ToUTF8(p.Decode(body), p.Type.Charset())
}

// partReader walks over a body once, with the boundaries that are open.
type partReader struct {
	body  []byte
	pos   int
	open  []string
	parts int
	// The delimiter line that was read last: its level in open (-1 at the end of the
	// body), whether it closes its multipart, where its line starts.
	hit    int
	closes bool
	at     int
}

// read reads p's content, up to the delimiter of an entity around it.
func (r *partReader) read(p *Part) error {
	p.Start = r.pos
	boundary := p.Type.Params["boundary"]
	if !strings.HasPrefix(p.Type.Media, "multipart/") || boundary == "" {
		r.advance()
		p.End = r.contentEnd(p.Start)
		return nil
	}
	level := len(r.open)
	if level >= maxDepth {
		return ErrOpaque
	}
	r.open = append(r.open, boundary)
	r.advance() // the preamble
	for r.hit == level && !r.closes {
		if r.parts++; r.parts > maxParts {
			return ErrOpaque
		}
		c := r.header()
		if err := r.read(c); err != nil {
			return err
		}
		p.Parts = append(p.Parts, c)
	}
	r.open = r.open[:level]
	if r.hit == level {
		r.advance() // the epilogue
	}
	p.End = r.contentEnd(p.Start)
	return nil
}

// header reads a part's header; a delimiter ends it too.
func (r *partReader) header() *Part {
	start := r.pos
	for r.pos < len(r.body) {
		line := nextLine(r.body[r.pos:])
		if level, _ := r.match(line); level >= 0 {
			break
		}
		r.pos += len(line)
		if blank(line) {
			break
		}
	}
	h := Parse(r.body[start:r.pos:r.pos])
	return &Part{Header: h, Type: h.ContentType()}
}

// advance goes on to the next delimiter line of any open boundary.
func (r *partReader) advance() {
	for r.pos < len(r.body) {
		line := nextLine(r.body[r.pos:])
		level, closes := r.match(line)
		if level >= 0 {
			r.hit, r.closes, r.at = level, closes, r.pos
			r.pos += len(line)
			return
		}
		r.pos += len(line)
	}
	r.hit, r.closes, r.at = -1, false, len(r.body)
}

func (r *partReader) match(line []byte) (level int, closes bool) {
	if !bytes.HasPrefix(line, []byte("--")) {
		return -1, false
	}
	text := string(bytes.TrimRight(line[2:], " \t\r\n"))
	for i, b := range slices.Backward(r.open) {
		if text == b {
			return i, false
		}
		if strings.TrimSuffix(text, "--") == b {
			return i, true
		}
	}
	return -1, false
}

// contentEnd is where content ends before the delimiter line just read: the line end
// before it belongs to the delimiter (RFC 2046 §5.1.1).
func (r *partReader) contentEnd(start int) int {
	end := r.at
	if r.hit < 0 {
		return end
	}
	if end > start && r.body[end-1] == '\n' {
		end--
	}
	if end > start && r.body[end-1] == '\r' {
		end--
	}
	return end
}
