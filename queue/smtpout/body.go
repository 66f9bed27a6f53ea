package smtpout

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
)

// body is what a message looks like on the wire.
type body struct {
	sum  uint64
	len  int    // of the message as handed in
	size int    // for SIZE (RFC 1870 §4): without stuffing and final dot
	end  string // the final dot, with the line end that the message may lack
	// eight: there are octets above 127.
	eight bool
	// stuffed is the changed copy; nil means that the message goes as it is.
	stuffed []byte
}

// wire is what to send before end.
func (b *body) wire(raw []byte) []byte {
	if b.stuffed != nil {
		return b.stuffed
	}
	return raw
}

// bodies remembers the last message that was looked at, so that thousands of VERP
// transactions look at it once. It knows a message by its content, not by its
// address: a caller may use one buffer for many messages.
type bodies struct {
	seed maphash.Seed
	last atomic.Pointer[body]
}

func (s *bodies) get(raw []byte) *body {
	sum := maphash.Bytes(s.seed, raw)
	if b := s.last.Load(); b != nil && b.sum == sum && b.len == len(raw) {
		return b
	}
	b := inspect(raw)
	b.sum = sum
	s.last.Store(b)
	return b
}

// inspect finds out how raw has to be sent.
func inspect(raw []byte) *body {
	b := &body{len: len(raw), size: len(raw), end: ".\r\n", eight: hasEight(raw)}
	if !plain(raw) {
		b.stuffed, b.size = stuff(raw)
	}
	if len(raw) > 0 && !bytes.HasSuffix(b.wire(raw), []byte("\r\n")) {
		b.end = "\r\n.\r\n"
		b.size += 2
	}
	return b
}

// plain reports that raw has no line that begins with a dot and no CR or LF but
// line ends: it can go as it is.
func plain(raw []byte) bool {
	lines := 0
	for rest := raw; ; lines++ {
		if len(rest) > 0 && rest[0] == '.' {
			return false
		}
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		if i == 0 || rest[i-1] != '\r' {
			return false
		}
		rest = rest[i+1:]
	}
	return bytes.Count(raw, []byte{'\r'}) == lines
}

// stuff doubles dots at the start of lines (RFC 5321 §4.5.2). Stray line ends, which
// messages should not have by now, are made harmless: servers that take them for line
// ends would see another message than we do. A bare LF becomes a line end; a bare CR
// a blank, which cannot end a header early. size counts all but the added dots.
func stuff(raw []byte) (out []byte, size int) {
	out = make([]byte, 0, len(raw)+len(raw)/32+16)
	dots, start := 0, true
	for i, c := range raw {
		switch {
		case c == '\n':
			if i == 0 || raw[i-1] != '\r' {
				out = append(out, '\r')
			}
		case c == '\r' && (i+1 == len(raw) || raw[i+1] != '\n'):
			c = ' '
		case c == '.' && start:
			out = append(out, '.')
			dots++
		}
		out = append(out, c)
		start = c == '\n'
	}
	return out, len(out) - dots
}

func hasEight(b []byte) bool {
	for len(b) >= 8 {
		if binary.NativeEndian.Uint64(b)&0x8080808080808080 != 0 {
			return true
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return true
		}
	}
	return false
}
