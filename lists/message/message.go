// Package message holds a mail message as the bytes that came in, with header
// edits on top: what nobody touches leaves exactly as it came.
//
// Nothing here fails on bad mail. A header line that is no field is kept where it
// stands, a charset that nobody knows leaves its text encoded, a MIME structure
// over the limits is opaque. All of it takes time linear in the message's length.
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
	raw    []byte // as parsed; nil as soon as something was edited
	fields []Field
	kept   map[string]bool // see Protect; never changed
	sep    []byte          // the empty line, as it came; nil if there was none
	body   []byte
}

// Protect makes every later edit of fields with these names (in any case) do nothing, also
// where the message has none of them; nil ends that. Clones are protected too.
func (m *Message) Protect(names []string) {
	m.kept = make(map[string]bool, len(names))
	for _, n := range names {
		m.kept[strings.ToLower(n)] = true
	}
}

// Protected reports whether edits of that field do nothing.
func (m *Message) Protected(name string) bool { return m.kept[strings.ToLower(name)] }

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
func (m *Message) SetBody(b []byte) { m.body, m.raw = b, nil }

// Del removes every field of that name.
func (m *Message) Del(name string) {
	m.DelFunc(func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// DelFunc removes every field that del picks; it is asked once for each, in order.
func (m *Message) DelFunc(del func(Field) bool) {
	kept := make([]Field, 0, len(m.fields))
	for _, f := range m.fields {
		if !del(f) || m.Protected(f.Name) {
			kept = append(kept, f)
		}
	}
	if len(kept) < len(m.fields) {
		m.edit(kept)
	}
}

// Set replaces the first field of that name and removes the others; one that is
// missing is added at the end of the header. The value must be plain ASCII or
// already encoded; CR, LF and NUL in it become blanks (no header can be injected).
func (m *Message) Set(name, value string) {
	if m.Protected(name) {
		return
	}
	i := m.index(name)
	f := NewField(name, value)
	if i < 0 {
		m.edit(append(slices.Clone(m.fields), f))
		return
	}
	keep := slices.Clone(m.fields[:i+1])
	keep[i] = f
	for _, o := range m.fields[i+1:] {
		if !strings.EqualFold(o.Name, name) {
			keep = append(keep, o)
		}
	}
	m.edit(keep)
}

// Add appends a field at the end of the header.
func (m *Message) Add(name, value string) { m.AddFields(NewField(name, value)) }

// AddFields appends fields as they are; each must be a whole one with its line end.
func (m *Message) AddFields(fs ...Field) {
	fs = slices.DeleteFunc(slices.Clone(fs), func(f Field) bool { return m.Protected(f.Name) })
	m.edit(append(slices.Clone(m.fields), fs...))
}

// Prepend puts a field before all others, where trace fields belong.
func (m *Message) Prepend(name, value string) {
	if m.Protected(name) {
		return
	}
	m.edit(slices.Insert(slices.Clone(m.fields), 0, NewField(name, value)))
}

func (m *Message) edit(fields []Field) { m.fields, m.raw = fields, nil }

// Clone is a copy whose edits do not touch m. The octets are shared.
func (m *Message) Clone() *Message {
	c := *m
	return &c
}

// Bytes writes the message out: as it was parsed if nothing was edited, else the
// untouched fields and the body verbatim around the edits.
func (m *Message) Bytes() []byte {
	if m.raw != nil {
		return m.raw
	}
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
	} else {
		out = append(out, "\r\n"...)
	}
	return append(out, m.body...)
}
