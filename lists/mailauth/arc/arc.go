// Package arc verifies and seals Authenticated Received Chains (RFC 8617): what each
// handler of a message found out about it before it changed it, signed by each.
package arc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/message"
)

// Names of the header fields of a set (§4.1).
const (
	fieldResults = "ARC-Authentication-Results"
	fieldMessage = "ARC-Message-Signature"
	fieldSeal    = "ARC-Seal"
)

// MaxSets is how long a chain may be (§4.2.1).
const MaxSets = 50

// maxField bounds a field, in octets: each is hashed once for every set above it.
const maxField = 64 << 10

// ErrChain: the chain is malformed.
var ErrChain = errors.New("malformed ARC chain")

// set is one handler's fields; indexes into the message's header, -1 for none.
type set struct {
	results, message, seal int
	messageTags, sealTags  canon.Tags
}

// chain is a message's sets, sets[0] being instance 1.
type chain struct {
	m    *message.Message
	sets []set
	// highest is the highest instance that is named anywhere, well-formed or not.
	highest int
}

// read collects the chain of a message (§5.2 steps 1 and 3): no set twice, none
// missing, each with its three fields. The chain is usable for highest even then.
func read(m *message.Message) (chain, error) {
	c := chain{m: m}
	var first error
	for i, f := range m.Fields() {
		if err := c.add(i, f); err != nil && first == nil {
			first = err
		}
	}
	for n, s := range c.sets {
		if s.results < 0 || s.message < 0 || s.seal < 0 {
			return c, errors.Join(first, fmt.Errorf("%w: set %d is incomplete", ErrChain, n+1))
		}
	}
	return c, first
}

// add sorts one header field into its set.
func (c *chain) add(i int, f message.Field) error {
	var tags canon.Tags
	var err error
	at := func(s *set) *int { return &s.seal }
	switch {
	case strings.EqualFold(f.Name, fieldResults):
		tags, err = instanceOfResults(f.Value())
		at = func(s *set) *int { return &s.results }
	case strings.EqualFold(f.Name, fieldMessage):
		tags, err = canon.ParseTags(rawValue(f))
		at = func(s *set) *int { return &s.message }
	case strings.EqualFold(f.Name, fieldSeal):
		tags, err = canon.ParseTags(rawValue(f))
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrChain, f.Name, err)
	}
	if len(f.Raw) > maxField {
		return fmt.Errorf("%w: %s of %d octets", ErrChain, f.Name, len(f.Raw))
	}
	v, _ := tags.Get("i")
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > MaxSets {
		return fmt.Errorf("%w: %s: instance %.20q", ErrChain, f.Name, v)
	}
	c.highest = max(c.highest, n)
	for len(c.sets) < n {
		c.sets = append(c.sets, set{results: -1, message: -1, seal: -1})
	}
	s := &c.sets[n-1]
	if *at(s) >= 0 {
		return fmt.Errorf("%w: two fields %s of set %d", ErrChain, f.Name, n)
	}
	*at(s) = i
	switch at(s) {
	case &s.message:
		s.messageTags = tags
	case &s.seal:
		s.sealTags = tags
	}
	return nil
}

// instanceOfResults reads "i=1;" in front of authentication results.
func instanceOfResults(value string) (canon.Tags, error) {
	head, _, ok := strings.Cut(value, ";")
	if !ok {
		return nil, errors.New("no instance")
	}
	return canon.ParseTags(head)
}

// sealed appends the fields that the seal of set n covers, in the order of §5.1.1,
// the seal itself left out.
func (c *chain) sealed(dst []byte, n int) []byte {
	fields := c.m.Fields()
	for k, s := range c.sets[:n] {
		dst = canon.AppendField(dst, fields[s.results].Raw, canon.Relaxed)
		dst = canon.AppendField(dst, fields[s.message].Raw, canon.Relaxed)
		if k < n-1 {
			dst = canon.AppendField(dst, fields[s.seal].Raw, canon.Relaxed)
		}
	}
	return dst
}

// cv is what the newest seal says of the chain before it; "" without a seal.
func (c *chain) cv() string {
	if len(c.sets) == 0 {
		return ""
	}
	v, _ := c.sets[len(c.sets)-1].sealTags.Get("cv")
	return v
}

func rawValue(f message.Field) string {
	_, v, _ := strings.Cut(string(f.Raw), ":")
	return v
}
