package smtpout

import (
	"math/rand/v2"
	"sync"
	"time"
)

// breaker counts a host's failures in a row. After enough of them it is open: nobody
// tries until the pause is over, then one does (half-open), and on the result hangs
// whether all may again or the next, longer pause begins.
type breaker struct {
	c Breaker

	mu      sync.Mutex // never held while waiting
	fails   int
	pauses  int       // in a row
	until   time.Time // zero: closed
	probing bool
}

// wait is how long nobody may try: 0 when one may, now.
func (b *breaker) wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left()
}

func (b *breaker) left() time.Duration {
	switch d := time.Until(b.until); {
	case b.until.IsZero():
		return 0
	case d > 0:
		return d
	case b.probing:
		return b.c.Pause // somebody is trying just now
	default:
		return 0
	}
}

// try asks for leave to try now. Whoever gets it as the probe must say how it went:
// ok, fail or abandon.
func (b *breaker) try() (probe bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait = b.left(); wait > 0 {
		return false, wait
	}
	b.probing = !b.until.IsZero()
	return b.probing, 0
}

// ok closes the breaker: the host answered MAIL. It reports whether it was open.
func (b *breaker) ok() (closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	closed = !b.until.IsZero()
	b.fails, b.pauses, b.until, b.probing = 0, 0, time.Time{}, false
	return closed
}

// fail counts a failure; what was under way when the breaker opened counts no more.
// It returns the pause if one begins.
func (b *breaker) fail(probe bool) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails++
	if open := !b.until.IsZero(); open && !probe || !open && b.fails < b.c.Failures {
		return 0
	}
	d := b.c.Pause
	for i := 0; i < b.pauses && d < b.c.MaxPause; i++ {
		d = min(2*d, b.c.MaxPause)
	}
	d = time.Duration(float64(d) * (0.75 + rand.Float64()/2))
	b.pauses++
	b.until, b.probing = time.Now().Add(d), false
	return d
}

// abandon says that the probe did not find out anything.
func (b *breaker) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
