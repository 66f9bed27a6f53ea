package canon

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Tag is one tag of a tag list.
type Tag struct{ Name, Value string }

// Tags is a tag list, in order (RFC 6376 §3.2).
type Tags []Tag

// ErrTags: the text is no tag list.
var ErrTags = errors.New("malformed tag list")

// maxTags bounds a list; real ones have about a dozen.
const maxTags = 100

// ParseTags reads a tag list. Names are as written; values lose the blanks around
// them, what is inside stays. A name that comes twice spoils the list.
func ParseTags(s string) (Tags, error) {
	specs := strings.Split(s, ";")
	if last := len(specs) - 1; last > 0 && trim(specs[last]) == "" {
		specs = specs[:last]
	}
	if len(specs) > maxTags {
		return nil, fmt.Errorf("%w: more than %d tags", ErrTags, maxTags)
	}
	tags := make(Tags, 0, len(specs))
	for _, spec := range specs {
		name, value, ok := strings.Cut(spec, "=")
		name, value = trim(name), trim(value)
		if !ok || !okName(name) || !okValue(value) {
			return nil, fmt.Errorf("%w: %.40q", ErrTags, spec)
		}
		if _, twice := tags.Get(name); twice {
			return nil, fmt.Errorf("%w: %s= twice", ErrTags, name)
		}
		tags = append(tags, Tag{name, value})
	}
	return tags, nil
}

// Get is the value of a tag; false if it is not there.
func (t Tags) Get(name string) (string, bool) {
	for _, tag := range t {
		if tag.Name == name {
			return tag.Value, true
		}
	}
	return "", false
}

// Bytes is a tag's value read as base64, blanks inside ignored; false if it is not
// there, empty, or no base64.
func (t Tags) Bytes(name string) ([]byte, bool) {
	v, _ := t.Get(name)
	b, err := base64.StdEncoding.DecodeString(NoBlanks(v))
	return b, err == nil && len(b) > 0
}

// List is a tag's value read as names between colons, blanks around them ignored;
// nil if the tag is not there.
func (t Tags) List(name string) []string {
	v, ok := t.Get(name)
	if !ok {
		return nil
	}
	out := strings.Split(v, ":")
	for i := range out {
		out[i] = trim(out[i])
	}
	return out
}

// NoBlanks is s without blanks and line ends.
func NoBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(blanks, r) {
			return -1
		}
		return r
	}, s)
}

const blanks = " \t\r\n"

func trim(s string) string { return strings.Trim(s, blanks) }

func okName(s string) bool {
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		case i > 0 && (r == '_' || r >= '0' && r <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

func okValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == 0x7f || r < ' ' && !strings.ContainsRune(blanks, r)
	})
}
