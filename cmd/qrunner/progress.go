package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// progress shows how far a long command is: one line that is written over on a
// terminal, nothing elsewhere.
type progress struct {
	w     io.Writer
	what  string
	total int
	last  time.Time
}

// newProgress shows nothing unless w is a terminal.
func newProgress(w io.Writer, what string, total int) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err != nil {
		return &progress{}
	}
	return &progress{w: w, what: what, total: total}
}

// set says that n are done.
func (p *progress) set(n int) {
	if p.w == nil || time.Since(p.last) < 100*time.Millisecond {
		return
	}
	p.last = time.Now()
	if p.total == 0 { // nobody knows
		fmt.Fprintf(p.w, "\r%d %s", n, p.what)
		return
	}
	fmt.Fprintf(p.w, "\r%s: %d of %d (%d %%)", p.what, n, p.total, n*100/max(p.total, 1))
}

// end clears the line.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
