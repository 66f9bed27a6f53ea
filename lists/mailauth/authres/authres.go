// Package authres reads and writes Authentication-Results (RFC 8601): what a mail
// system found out about who sent a message.
package authres

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"qrunner/lists/message"
)

// Field is the name of the header field.
const Field = "Authentication-Results"

// ErrSyntax: the value is no list of results.
var ErrSyntax = errors.New("malformed Authentication-Results")

// The results that this program writes (§2.7.1, §2.7.3, RFC 8617 §4.4).
const (
	None      = "none"
	Pass      = "pass"
	Fail      = "fail"
	Policy    = "policy"
	TempError = "temperror"
	PermError = "permerror"
)

// Result is what one method found.
type Result struct {
	Method string // in lower case: "dkim"
	Value  string // in lower case: "pass"
	Reason string
	Props  []Property
	// Text is the result as it was written, unfolded, comments included. Written by
	// Parse; Format uses it if it is there.
	Text string
}

// Property is what a result is about: header.d=example.org.
type Property struct{ Type, Name, Value string }

// Results is one field: who tested, and what came of it.
type Results struct {
	ID      string // the authserv-id, as written
	Results []Result
}

// Get is the value of a property, or "".
func (r Result) Get(kind, name string) string {
	for _, p := range r.Props {
		if p.Type == kind && p.Name == name {
			return p.Value
		}
	}
	return ""
}

// Of returns the results that any of the named systems wrote into a message, one
// Results per system, in the order of the fields; names are compared without case.
// Only what the own mail system wrote means anything, and only if that system
// removes forged ones.
func Of(m *message.Message, ids ...string) []Results {
	var out []Results
	for _, v := range m.All(Field) {
		r, err := Parse(v)
		if err != nil || !Named(r.ID, ids) {
			continue
		}
		i := slices.IndexFunc(out, func(o Results) bool { return strings.EqualFold(o.ID, r.ID) })
		if i < 0 {
			out = append(out, r)
			continue
		}
		out[i].Results = append(out[i].Results, r.Results...)
	}
	return out
}

// Remove takes away what claims to come from one of the named systems (§5), and what
// cannot be read: a reader more lenient than we are might believe it.
func Remove(m *message.Message, ids ...string) {
	m.DelFunc(func(f message.Field) bool {
		if !strings.EqualFold(f.Name, Field) {
			return false
		}
		id, _, err := authservID(&scanner{in: f.Value()})
		return err != nil || Named(id, ids)
	})
}

// Named reports whether id is one of ids, without case.
func Named(id string, ids []string) bool {
	return slices.ContainsFunc(ids, func(s string) bool { return strings.EqualFold(s, id) })
}

// Format writes the value of a field; without results it says so (§2.2: "none").
func Format(r Results) string {
	parts := []string{token(r.ID)}
	for _, x := range r.Results {
		parts = append(parts, x.String())
	}
	if len(r.Results) == 0 {
		parts = append(parts, "none")
	}
	return strings.Join(parts, "; ")
}

// String is the result as a field carries it.
func (r Result) String() string {
	if r.Text != "" {
		return r.Text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%s", r.Method, r.Value)
	if r.Reason != "" {
		fmt.Fprintf(&b, " reason=%s", quote(r.Reason))
	}
	for _, p := range r.Props {
		fmt.Fprintf(&b, " %s.%s=%s", p.Type, p.Name, pvalue(p.Value))
	}
	return b.String()
}

// token writes a value as a token if it is one, else as a quoted string.
func token(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !tokenRune(r) }) {
		return s
	}
	return quote(s)
}

// pvalue may hold an address too (§2.2).
func pvalue(s string) string {
	local, domain, ok := strings.Cut(s, "@")
	if ok && token(domain) == domain && (local == "" || token(local) == local) {
		return s
	}
	return token(s)
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(message.OneLine(s)) + `"`
}

// tokenRune: a token of MIME (RFC 2045 §5.1).
func tokenRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?=`, r)
}
