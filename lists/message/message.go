// Package message holds a mail message as the bytes that came in, with header
// edits on top: what nobody touches leaves exactly as it came.
package message

import (
	"bytes"
	"slices"
	"strings"
)

// Message is a parsed message. Parse never fails: what is no header field is kept
// as a line of the header that no name finds. Not for concurrent change; Clone
// before handing it to somebody who edits.
type Message struct {
	fields []Field
	sep    []byte // the empty line, as it came; nil if there was none
	body   []byte
}

// Field is one header field with its folding and line end, or one odd line (then
// Name is empty). Raw is never changed in place.
type Field struct {
	Name string // as written
	Raw  []byte // "Name: value CRLF", verbatim
}

// Value is the field's content: unfolded, without surrounding blanks, not decoded.
func (f Field) Value() string {
	_, v, _ := strings.Cut(string(f.Raw), ":")
	return strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(v))
}

// Parse splits raw into header and body. It keeps sub-slices of raw, which must not
// change afterwards.
func Parse(raw []byte) *Message {
	m := &Message{}
	for len(raw) > 0 {
		line := nextLine(raw)
		if blank(line) {
			m.sep, raw = line, raw[len(line):]
			break
		}
		end := len(line)
		for end < len(raw) && (raw[end] == ' ' || raw[end] == '\t') {
			cont := nextLine(raw[end:])
			if blank(cont) {
				break
			}
			end += len(cont)
		}
		m.fields = append(m.fields, Field{Name: fieldName(line), Raw: raw[:end:end]})
		raw = raw[end:]
	}
	m.body = raw
	return m
}

func nextLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[: i+1 : i+1]
	}
	return b
}

func blank(line []byte) bool { return len(bytes.TrimRight(line, "\r\n")) == 0 }

// fieldName is the name of RFC 5322 §2.2, blanks before the colon allowed (§4.5).
func fieldName(line []byte) string {
	name, _, ok := bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	if !ok || len(name) == 0 {
		return ""
	}
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return ""
		}
	}
	return string(name)
}

// Fields lists the header in order; the caller must not change it.
func (m *Message) Fields() []Field { return m.fields }

// Has reports whether a field of that name (in any case) is there.
func (m *Message) Has(name string) bool { return m.index(name) >= 0 }

// Get is the value of the first field of that name, or "".
func (m *Message) Get(name string) string {
	if i := m.index(name); i >= 0 {
		return m.fields[i].Value()
	}
	return ""
}

// All is the values of every field of that name, in order.
func (m *Message) All(name string) []string {
	var out []string
	for _, f := range m.fields {
		if strings.EqualFold(f.Name, name) {
			out = append(out, f.Value())
		}
	}
	return out
}

func (m *Message) index(name string) int {
	return slices.IndexFunc(m.fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// Body is the octets behind the empty line; the caller must not change them.
func (m *Message) Body() []byte { return m.body }

// SetBody replaces the body.
func (m *Message) SetBody(b []byte) { m.body = b }

// Del removes every field of that name.
func (m *Message) Del(name string) {
	m.fields = slices.DeleteFunc(slices.Clone(m.fields), func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// Set replaces the first field of that name and removes the others; one that is
// missing is added at the end of the header. The value must be plain ASCII or
// already encoded; CR, LF and NUL in it become blanks (no header can be injected).
func (m *Message) Set(name, value string) {
	i := m.index(name)
	f := NewField(name, value)
	if i < 0 {
		m.fields = append(slices.Clone(m.fields), f)
		return
	}
	keep := slices.Clone(m.fields[:i+1])
	keep[i] = f
	for _, o := range m.fields[i+1:] {
		if !strings.EqualFold(o.Name, name) {
			keep = append(keep, o)
		}
	}
	m.fields = keep
}

// Add appends a field at the end of the header.
func (m *Message) Add(name, value string) {
	m.fields = append(slices.Clone(m.fields), NewField(name, value))
}

// Prepend puts a field before all others, where trace fields belong.
func (m *Message) Prepend(name, value string) {
	m.fields = slices.Insert(slices.Clone(m.fields), 0, NewField(name, value))
}

// Clone is a copy whose edits do not touch m. The octets are shared.
func (m *Message) Clone() *Message {
	c := *m
	return &c
}

// Bytes writes the message out: untouched fields and body verbatim.
func (m *Message) Bytes() []byte {
	n := len(m.sep) + len(m.body) + 2
	for _, f := range m.fields {
		n += len(f.Raw) + 2
	}
	out := make([]byte, 0, n)
	for _, f := range m.fields {
		out = append(out, f.Raw...)
		if !bytes.HasSuffix(f.Raw, []byte("\n")) {
			out = append(out, "\r\n"...)
		}
	}
	if m.sep != nil {
		out = append(out, m.sep...)
	} else if len(m.body) > 0 {
		out = append(out, "\r\n"...)
	}
	return append(out, m.body...)
}
