// Package clock holds the two opinions a host has of time: the time of day, which
// may be wrong, and a clock that only goes forward.
//
// Code takes both as values, so that a test can give each simulated host a time
// of its own inside a testing/synctest bubble. Waiting is done with package time.
package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock is a host's opinion of the time of day. Nothing about a lock's expiry may
// be decided by it: hosts disagree by hours. It dates log lines and mail.
type Clock func() time.Time

// Mono reads a clock that never goes back and counts time spent in suspend.
// Only differences of two readings on the same host mean anything.
type Mono func() time.Duration

// Boot is the Mono of a real host: CLOCK_BOOTTIME. Go's own monotonic clock stops
// while the machine is suspended (golang/go #35012), a lease does not.
func Boot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(ts.Nano())
}

// Since returns a Mono that counts from start with package time; inside a
// synctest bubble it is the bubble's clock.
func Since(start time.Time) Mono {
	return func() time.Duration { return time.Since(start) }
}
