package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// appendMember adds a member as a line of JSON, unless there was an error before.
func appendMember(buf []byte, m *lists.Member, err error) ([]byte, error) {
	if err != nil {
		return buf, err
	}
	line, err := json.Marshal(m)
	return append(buf, line...), err
}

// parseMember reads a member's line.
func parseMember(line []byte) (m lists.Member, err error) {
	if m, ok := parsePlain(line); ok {
		return m, nil
	}
	if err = strict(line, &m); err == nil && roleIndex(m.Role) < 0 {
		err = fmt.Errorf("member %s: no role %q", m.Address, m.Role)
	}
	return m, err
}

// parsePlain reads the form that most lines of a large list have, several times
// faster than package json: the fields in the order in which we write them, ASCII
// without escapes, nothing but a name in addition.
func parsePlain(line []byte) (m lists.Member, ok bool) {
	s := scanner{rest: line}
	s.literal(`{"id":`)
	m.ID = lists.MemberID(s.number())
	s.literal(`,"address":"`)
	m.Address = mailaddr.Address(s.text())
	s.literal(`,"role":"`)
	role := s.text()
	if bytes.HasPrefix(s.rest, []byte(`,"name":"`)) {
		s.literal(`,"name":"`)
		m.Name = string(s.text())
	}
	s.literal(`,"since":"`)
	since := s.text()
	s.literal(`}`)
	if s.failed || len(s.rest) > 0 {
		return m, false
	}
	for _, r := range roles {
		if string(r) == string(role) {
			m.Role = r
		}
	}
	var err error
	m.Since, err = time.Parse(time.RFC3339Nano, string(since))
	return m, err == nil && m.Role != ""
}

// scanner takes a line apart from its front; after a failure it stays failed.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) literal(want string) {
	rest, ok := bytes.CutPrefix(s.rest, []byte(want))
	s.rest, s.failed = rest, s.failed || !ok
}

func (s *scanner) number() (n uint64) {
	i := 0
	for ; i < len(s.rest) && i < 18 && s.rest[i] >= '0' && s.rest[i] <= '9'; i++ {
		n = n*10 + uint64(s.rest[i]-'0')
	}
	s.failed = s.failed || i == 0 || i > 1 && s.rest[0] == '0'
	s.rest = s.rest[i:]
	return n
}

// text takes what stands before the next quote, and the quote.
func (s *scanner) text() []byte {
	for i, c := range s.rest {
		if c == '"' {
			out := s.rest[:i]
			s.rest = s.rest[i+1:]
			return out
		}
		if c == '\\' || c < ' ' || c >= 0x7f {
			break
		}
	}
	s.failed = true
	return nil
}
