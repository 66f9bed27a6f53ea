package zktest

import (
	"bytes"
	"encoding/binary"
	"time"
)

// connect answers the first packet of a connection, and reports whether it goes on. One
// whose session has ended gets no other answer, and the client hangs up.
func (c *conn) connect(r *reader) bool {
	r.int32() // version
	r.int64() // the last change that the client has seen
	want := time.Duration(r.int32()) * time.Millisecond
	id, passwd := r.int64(), r.bytes()
	if r.bad {
		return false
	}
	e := c.e
	e.mu.Lock()
	s := e.sessions[id]
	switch {
	case id == 0:
		s = e.newSession(min(max(want, e.cfg.MinTimeout), e.cfg.MaxTimeout))
	case s == nil || s.ended || !bytes.Equal(s.passwd, passwd):
		s = &session{passwd: make([]byte, 16), ended: true}
	}
	c.session = s
	if s.at = c.at; !s.ended {
		s.timer.Reset(s.timeout)
	}
	// A session that moves here leaves its former connection.
	old := e.conns(func(o *conn) bool { return o != c && o.session == s && !s.ended })
	e.mu.Unlock()
	for _, o := range old {
		o.close()
	}
	var w writer
	w.int32(0)
	w.int32(int32(s.timeout.Milliseconds()))
	w.int64(s.id)
	w.bytes(s.passwd)
	w.bool(false) // not read-only
	c.send(w.b)
	return true
}

// newSession makes one; the caller holds mu.
func (e *Ensemble) newSession(timeout time.Duration) *session {
	e.lastID++
	s := &session{id: e.lastID, timeout: timeout, passwd: make([]byte, 16)}
	binary.BigEndian.PutUint64(s.passwd, uint64(s.id)+0x5eed)
	s.timer = time.AfterFunc(timeout, func() { e.Expire(s.id) })
	e.sessions[s.id] = s
	return s
}
