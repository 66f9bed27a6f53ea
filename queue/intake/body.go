package intake

import (
	"bytes"
	"sync/atomic"

	"qrunner/lists"
	"qrunner/queue"
)

// body gathers a message within the limits. Over a limit it lets go of what it has
// and only counts on, so that the rest can be read and thrown away.
type body struct {
	limits Limits
	pool   *atomic.Int64 // octets in hand, all messages together
	raw    []byte
	line   int
	over   *reply // the limit that was passed
	head   []byte // the beginning of a message that is over its limit
}

// headKept is how much of a report is enough: what the detectors of bounces look at.
const headKept = 1 << 20

// newBody makes a body that expects size octets; 0 if nobody said.
func (in *Intake) newBody(size int64) *body {
	b := &body{limits: in.Limits, pool: &in.memory}
	b.grow(int(min(size, 1<<20)))
	return b
}

// add takes the next octets: a line that ends in LF, or a part of one.
func (b *body) add(frag []byte) {
	b.line += len(frag)
	long := b.line > b.limits.Line
	if frag[len(frag)-1] == '\n' {
		b.line = 0
	}
	switch {
	case b.over != nil:
	case long:
		b.drop(errLine)
	case int64(len(b.raw)+len(frag)) > b.limits.Message:
		b.drop(errTooBig)
	case len(b.raw)+len(frag) > cap(b.raw) && !b.grow(len(b.raw)+len(frag)):
		b.drop(errBusy)
	default:
		b.raw = append(b.raw, frag...)
	}
}

// grow makes room for need octets, if all messages together may have that many.
func (b *body) grow(need int) bool {
	room := max(need, min(max(2*cap(b.raw), 4096), int(b.limits.Message)))
	more := int64(room - cap(b.raw))
	if b.pool.Add(more) > b.limits.Memory {
		b.pool.Add(-more)
		return false
	}
	raw := make([]byte, len(b.raw), room)
	copy(raw, b.raw)
	b.raw = raw
	return true
}

func (b *body) drop(why *reply) {
	if why != errBusy {
		head := b.raw[:min(len(b.raw), headKept)]
		b.head = bytes.Clone(head[:bytes.LastIndexByte(head, '\n')+1])
	}
	b.free()
	b.over = why
}

// headOf makes do with the beginning of a message that is over a limit, if all that it is
// for are bounces addresses: what a report says stands at its top, and it may drag along
// what it likes.
func (b *body) headOf(targets []lists.Target) {
	if b.over == nil || len(b.head) == 0 {
		return
	}
	for _, t := range targets {
		if queueOf(t) != queue.Bounces {
			return
		}
	}
	b.raw, b.head, b.over = b.head, nil, nil
	b.pool.Add(int64(cap(b.raw)))
}

// free gives the memory back. The octets must not be used any more.
func (b *body) free() {
	b.pool.Add(-int64(cap(b.raw)))
	b.raw = nil
}

// err is why the message cannot be taken, nil if it can.
func (b *body) err() error {
	if b.over == nil {
		return nil
	}
	return b.over
}
