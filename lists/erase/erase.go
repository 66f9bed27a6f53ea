// Package erase finds an address, or the identifier of a message, in the files of the
// share, and writes over it: what a person may ask for who wants to be forgotten. The
// same number of octets is written, in place, so that whoever reads or appends to the
// file meanwhile sees a whole file, and so that work that was cut short can be repeated.
package erase

import (
	"bytes"
	"strings"

	"qrunner/lists/mailaddr"
)

// Words are what is looked for. ASCII letters are compared in any case. Nil finds nothing.
type Words []word

type word struct {
	text   string // ASCII letters in lower case
	joined string // octets that, before or behind it, make it a part of something else
}

// Octets that make an address part of a longer one.
const (
	inAddress = "abcdefghijklmnopqrstuvwxyz0123456789._-+"
	inDomain  = "abcdefghijklmnopqrstuvwxyz0123456789_-"
)

// Address looks for a mail address: as it is, with its domain in Unicode, with "=" for "@"
// as in a bounce address (VERP), and as it stands in JSON. An address that it is only a
// part of is none: not joan@example.com for an@example.com, nor an@example.com.au.
func Address(a mailaddr.Address) Words {
	var out Words
	domains := []string{a.Domain()}
	if u := a.UnicodeDomain(); u != a.Domain() {
		domains = append(domains, u)
	}
	for _, d := range domains {
		local := a.Local()
		out = append(out, word{lower(local + "@" + d), inAddress}, word{lower(local + "=" + d), inDomain + "."})
		if j := escaped(local); j != local {
			out = append(out, word{lower(j + "@" + d), inAddress})
		}
	}
	return out
}

// MessageID looks for the identifier of a message, with or without its angle brackets.
func MessageID(id string) Words {
	id = strings.Trim(id, "<> ")
	out := Words{{lower(id), inAddress}}
	if j := escaped(id); j != id {
		out = append(out, word{lower(j), inAddress})
	}
	return out
}

// escaped is a text as encoding/json writes it.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", `\u0026`, "<", `\u003c`, ">", `\u003e`).Replace(s)
}

// lower folds ASCII letters only: offsets stay what they are.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// In reports whether a text has one of the words.
func (ws Words) In(text []byte) bool {
	found := false
	ws.each(text, func(int, int) bool { found = true; return false })
	return found
}

// Hide is a text with "x" in the place of each octet of the words, "@" excepted: what was
// an address is still of that form. The text itself is returned if it has none of them.
func (ws Words) Hide(text []byte) []byte {
	var out []byte
	ws.each(text, func(from, to int) bool {
		if out == nil {
			out = bytes.Clone(text)
		}
		for i := from; i < to; i++ {
			if out[i] != '@' {
				out[i] = 'x'
			}
		}
		return true
	})
	if out == nil {
		return text
	}
	return out
}

// each calls fn with every place where a word stands, until it returns false.
func (ws Words) each(text []byte, fn func(from, to int) bool) {
	var low []byte
	for _, w := range ws {
		if len(text) < len(w.text) {
			continue
		}
		if low == nil {
			low = lowerBytes(text)
		}
		for at := 0; ; {
			i := bytes.Index(low[at:], []byte(w.text))
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(w.text)
			if w.alone(low, from, to) && !fn(from, to) {
				return
			}
			at = from + 1
		}
	}
}

// alone reports whether what stands at from is the word and not a part of another.
func (w word) alone(low []byte, from, to int) bool {
	if from > 0 && w.joins(low[from-1]) && !coded(low[:from]) {
		return false
	}
	rest := low[to:]
	if len(rest) > 0 && rest[0] == '.' && len(rest) > 1 {
		return strings.IndexByte(inDomain, rest[1]) < 0
	}
	return len(rest) == 0 || strings.IndexByte(inDomain, rest[0]) < 0 && rest[0] < 0x80
}

func (w word) joins(c byte) bool { return c >= 0x80 || strings.IndexByte(w.joined, c) >= 0 }

// coded reports whether a text ends with an octet in hexadecimal: =3C, %3C, \u003c.
func coded(low []byte) bool {
	n := len(low)
	if n >= 6 && bytes.HasPrefix(low[n-6:], []byte(`\u00`)) {
		return true
	}
	return n >= 3 && (low[n-3] == '=' || low[n-3] == '%') && hex(low[n-2]) && hex(low[n-1])
}

func hex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

func lowerBytes(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}
