package zktest

import "encoding/binary"

// reader takes a packet apart; after an error everything it returns is zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return make([]byte, max(0, min(n, 8)))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }
func (r *reader) bool() bool   { return r.take(1)[0] != 0 }

// bytes reads a buffer; length -1 is an absent one.
func (r *reader) bytes() []byte {
	n := r.int32()
	if n < 0 {
		return nil
	}
	return append([]byte{}, r.take(int(n))...)
}

func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) strings() []string {
	var out []string
	for n := r.int32(); n > 0 && !r.bad; n-- {
		out = append(out, r.string())
	}
	return out
}

// skipACL reads a list of access rights, which mean nothing here.
func (r *reader) skipACL() {
	for n := r.int32(); n > 0 && !r.bad; n-- {
		r.int32()
		r.bytes()
		r.bytes()
	}
}

// writer puts a packet together.
type writer struct{ b []byte }

func (w *writer) int32(v int32) { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }
func (w *writer) int64(v int64) { w.b = binary.BigEndian.AppendUint64(w.b, uint64(v)) }

func (w *writer) bool(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) bytes(v []byte) {
	w.int32(int32(len(v)))
	w.b = append(w.b, v...)
}

func (w *writer) string(v string) { w.bytes([]byte(v)) }

func (w *writer) stat(n *node) {
	for _, v := range []int64{n.czxid, n.mzxid, n.ctime, n.ctime} {
		w.int64(v)
	}
	for _, v := range []int32{n.version, n.cversion, 0} {
		w.int32(v)
	}
	w.int64(n.owner)
	w.int32(int32(len(n.data)))
	w.int32(int32(len(n.children)))
	w.int64(n.mzxid)
}

// frame puts the length in front.
func frame(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, len(b)+4), uint32(len(b))), b...)
}
