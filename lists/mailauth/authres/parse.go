package authres

import (
	"fmt"
	"strings"
)

// maxResults bounds a field; real ones have a handful.
const maxResults = 100

// Parse reads the unfolded value of a field.
func Parse(value string) (Results, error) {
	s := &scanner{in: value}
	id, end, err := authservID(s)
	if err != nil {
		return Results{}, err
	}
	out := Results{ID: id}
	for !end {
		start := s.pos
		r, more, err := s.result()
		if err != nil {
			return Results{}, err
		}
		text := strings.TrimSpace(strings.TrimSuffix(s.in[start:s.pos], ";"))
		if r.Method != "" {
			r.Text = strings.Join(strings.Fields(text), " ")
			out.Results = append(out.Results, r)
		}
		if len(out.Results) > maxResults {
			return Results{}, fmt.Errorf("%w: more than %d results", ErrSyntax, maxResults)
		}
		end = !more
	}
	return out, nil
}

// authservID reads the name of the system and the version (§2.2), up to the first
// semicolon or the end.
func authservID(s *scanner) (id string, end bool, err error) {
	id, ok := s.value(tokenRune)
	if !ok || id == "" {
		return "", false, fmt.Errorf("%w: no authserv-id", ErrSyntax)
	}
	s.blanks()
	if s.pos < len(s.in) && s.in[s.pos] != ';' {
		if v, ok := s.value(tokenRune); !ok || v != "1" {
			return "", false, fmt.Errorf("%w: version %.20q", ErrSyntax, v)
		}
	}
	return id, !s.next(';'), nil
}

// result reads one result and the semicolon behind it; an empty one for "none" and
// for a semicolon too many.
func (s *scanner) result() (r Result, more bool, err error) {
	s.blanks()
	if s.pos == len(s.in) || s.in[s.pos] == ';' {
		return Result{}, s.next(';'), nil
	}
	name, value, ok := s.pair(tokenRune)
	if strings.EqualFold(name, "none") && !ok {
		return Result{}, s.next(';'), nil
	}
	if !ok || value == "" {
		return Result{}, false, fmt.Errorf("%w: near %.20q", ErrSyntax, s.in[s.pos:])
	}
	method, _, _ := strings.Cut(name, "/") // a method's version
	r = Result{Method: strings.ToLower(method), Value: strings.ToLower(value)}
	for {
		s.blanks()
		if s.pos == len(s.in) || s.in[s.pos] == ';' {
			return r, s.next(';'), nil
		}
		name, value, ok := s.pair(valueRune)
		kind, prop, dotted := strings.Cut(strings.ToLower(name), ".")
		if !ok || kind == "" || dotted && prop == "" {
			return Result{}, false, fmt.Errorf("%w: near %.20q", ErrSyntax, s.in[s.pos:])
		}
		if dotted {
			r.Props = append(r.Props, Property{kind, prop, value})
		} else if kind == "reason" {
			r.Reason = value
		}
	}
}

// scanner walks over a value; comments count as blanks.
type scanner struct {
	in  string
	pos int
}

// blanks skips white space and comments, which nest (RFC 5322 §3.2.2).
func (s *scanner) blanks() {
	depth := 0
	for ; s.pos < len(s.in); s.pos++ {
		switch c := s.in[s.pos]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == '\\' && depth > 0:
			s.pos++
		case depth == 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n':
			return
		}
	}
	s.pos = len(s.in)
}

func (s *scanner) next(c byte) bool {
	s.blanks()
	if s.pos < len(s.in) && s.in[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// pair reads name=value; false if no "=" follows, then what was read is the name.
// Blanks around a dot or slash, which RFC 8601 allows and nobody writes, are errors.
func (s *scanner) pair(in func(rune) bool) (name, value string, ok bool) {
	name = s.word(func(r rune) bool { return tokenRune(r) || r == '/' })
	if name == "" || !s.next('=') {
		return name, "", false
	}
	value, ok = s.value(in)
	return name, value, ok
}

// value reads a quoted string, and the characters of in.
func (s *scanner) value(in func(rune) bool) (string, bool) {
	s.blanks()
	var b strings.Builder
	if s.pos < len(s.in) && s.in[s.pos] == '"' {
		if !s.quoted(&b) {
			return "", false
		}
	}
	b.WriteString(s.word(in))
	return b.String(), true
}

// valueRune: what stands unquoted in properties, by the RFC or by habit.
func valueRune(r rune) bool { return tokenRune(r) || r > 0x7f || strings.ContainsRune("@:/[]?=<>,", r) }

func (s *scanner) quoted(b *strings.Builder) bool {
	for s.pos++; s.pos < len(s.in); s.pos++ {
		switch s.in[s.pos] {
		case '"':
			s.pos++
			return true
		case '\\':
			s.pos++
			if s.pos == len(s.in) {
				return false
			}
		}
		b.WriteByte(s.in[s.pos])
	}
	return false
}

func (s *scanner) word(in func(rune) bool) string {
	start := s.pos
	for s.pos < len(s.in) && (in(rune(s.in[s.pos]))) {
		s.pos++
	}
	return s.in[start:s.pos]
}
