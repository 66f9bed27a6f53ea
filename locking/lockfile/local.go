package lockfile

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// local is the gate in front of the share for the processes of one machine: open
// file description locks (fcntl(2)) on two bytes per key of one local file. The
// first byte is a turnstile: whoever waits for the second holds it, so that a
// process which just left cannot overtake the one whose turn it is. The kernel
// queues and wakes the others in order.
//
// The gate only saves traffic and evens out turns. Nothing depends on it, so every
// error of it means "no gate today".
type local struct {
	file *os.File

	mu      sync.Mutex
	pending map[int64]*arrival
}

// arrival is a call to the kernel that waits for a key's bytes. It cannot be called
// back, so a later caller joins it.
type arrival struct {
	got    chan struct{} // closed when the bytes are ours
	wanted bool
	done   bool
}

// openLocal opens the gate's file in dir, which it makes if it is missing.
func openLocal(dir string) (*local, error) {
	if err := os.MkdirAll(dir, 0o770); err != nil {
		return nil, fmt.Errorf("make local lock folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "locks.gate"), os.O_RDWR|os.O_CREATE, 0o660)
	if err != nil {
		return nil, fmt.Errorf("open local lock file: %w", err)
	}
	return &local{file: f, pending: map[int64]*arrival{}}, nil
}

// offset places a key in the file; two keys in one place would only wait for each other.
func offset(key string) int64 {
	sum := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:])>>2) &^ 1
}

func (g *local) fcntl(cmd int, typ int16, at int64) error {
	lk := unix.Flock_t{Type: typ, Start: at, Len: 1}
	for {
		err := unix.FcntlFlock(g.file.Fd(), cmd, &lk)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func busy(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }

// try takes the key without waiting. held is false if another process has it; leave
// is nil if there is nothing to give back.
func (g *local) try(at int64) (leave func(), held bool) {
	g.mu.Lock()
	waiting := g.pending[at] != nil
	g.mu.Unlock()
	if waiting {
		return nil, false
	}
	if err := g.fcntl(unix.F_OFD_SETLK, unix.F_WRLCK, at); err != nil {
		return nil, !busy(err)
	}
	err := g.fcntl(unix.F_OFD_SETLK, unix.F_WRLCK, at+1)
	_ = g.fcntl(unix.F_OFD_SETLK, unix.F_UNLCK, at)
	if err != nil {
		return nil, !busy(err)
	}
	return func() { _ = g.fcntl(unix.F_OFD_SETLK, unix.F_UNLCK, at+1) }, true
}

// wait takes the key, and gives up after d or when ctx ends; leave is then nil.
func (g *local) wait(ctx context.Context, at int64, d time.Duration) (leave func()) {
	if leave, held := g.try(at); held {
		return leave
	}
	g.mu.Lock()
	a := g.pending[at]
	if a == nil {
		a = &arrival{got: make(chan struct{})}
		g.pending[at] = a
		go g.arrive(at, a)
	}
	a.wanted = true
	g.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a.got:
	case <-t.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !a.done {
		a.wanted = false
		return nil
	}
	return func() { _ = g.fcntl(unix.F_OFD_SETLK, unix.F_UNLCK, at+1) }
}

// arrive waits in the kernel, for as long as it takes.
func (g *local) arrive(at int64, a *arrival) {
	err := g.fcntl(unix.F_OFD_SETLKW, unix.F_WRLCK, at)
	if err == nil {
		err = g.fcntl(unix.F_OFD_SETLKW, unix.F_WRLCK, at+1)
		_ = g.fcntl(unix.F_OFD_SETLK, unix.F_UNLCK, at)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, at)
	if err == nil && !a.wanted {
		_ = g.fcntl(unix.F_OFD_SETLK, unix.F_UNLCK, at+1)
	}
	a.done = true
	close(a.got)
}
