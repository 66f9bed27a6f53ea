package queuetest

import (
	"bufio"
	"errors"

	"qrunner/queue"
)

// data is DATA up to the answer to the final dot.
func (x *sinkSession) data() error {
	usual := "354 go ahead"
	switch {
	case !x.open:
		usual = "503 5.5.1 MAIL first"
	case x.accepted == 0:
		usual = "503 5.5.1 no valid recipients"
	}
	if x.in.Buffered() > 0 {
		x.violation(x.n, "text behind DATA before the 354")
	}
	ok, err := x.step(queue.PhaseData, "", usual)
	if err != nil || !ok {
		return err
	}
	if err := x.out.Flush(); err != nil {
		return err
	}
	raw, octets, err := x.body()
	if err != nil {
		return err
	}
	m := &SinkMessage{Conn: x.n, Sender: x.sender, Recipients: x.rcpts, Params: x.params, Raw: raw, TLS: x.tls, User: x.user}
	usual = "250 2.0.0 taken"
	switch {
	case x.accepted == 0:
		usual = "554 5.5.1 no valid recipients"
	case x.c.Size > 0 && octets > x.c.Size:
		usual = "552 5.3.4 too big"
	}
	x.pending = m
	x.octetsIn = octets
	ok, err = x.step(queue.PhaseDot, "", usual)
	switch {
	case err != nil:
	case ok:
		x.accept()
	default:
		x.refused.Add(1)
	}
	x.clear()
	return err
}

// accept records the message that the final dot ended.
func (x *sinkSession) accept() {
	x.take(x.pending, x.accepted, x.octetsIn)
}

func (x *sinkSession) clear() {
	x.open, x.sender, x.params, x.rcpts, x.accepted, x.pending = false, "", "", nil, 0, nil
}

// body reads up to the final dot. With KeepCounts it only counts.
func (x *sinkSession) body() (raw []byte, octets int, err error) {
	start, last := true, byte(0) // at the start of a line; the octet before
	for {
		part, err := x.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, err
		}
		if start && part[0] == '.' {
			if string(part) == ".\r\n" {
				return raw, octets, nil
			}
			if len(part) > 1 && part[1] != '.' {
				x.violation(x.n, "line begins with a single dot: %.20q", part)
			}
			part = part[1:]
		}
		octets += len(part)
		if n := len(part); n > 1 {
			last = part[n-2]
		}
		start = false
		if part[len(part)-1] == '\n' {
			start = last == '\r'
			if !start {
				x.violation(x.n, "message has a bare LF")
			}
		}
		last = part[len(part)-1]
		if x.c.Keep != KeepCounts {
			raw = append(raw, part...)
		}
	}
}
