package explore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// The classic ways of breaking a stale lock, each of them wrong. They share a link
// lock that is otherwise right.

const (
	modelLife = 5 * time.Second
	modelBase = time.Second
)

// model is one process of a classic lock.
type model struct {
	*simfs.Host
	breaks func(m *model, seen fsys.Info) error
	claim  string
}

func (m *model) acquire() (deadline time.Duration, err error) {
	m.claim = "claim." + m.Name()
	if err := fsys.WriteNew(m, m.claim, func(io.Writer) error { return nil }); err != nil {
		return 0, err
	}
	for {
		t0 := m.Mono()()
		_ = m.Link(m.claim, "lock")
		now, own, err := fsys.ServerNow(m, m.claim)
		switch {
		case errors.Is(err, simfs.ErrCrashed):
			return 0, err
		case err == nil && own.Nlink == 2:
			return t0 + modelLife, nil
		}
		seen, err := m.Stat("lock") // fresh, after our own failing link
		if fsys.Gone(err) {
			continue
		}
		if err == nil && now.Sub(seen.Mtime) > modelLife {
			if m.breaks(m, seen) == nil {
				continue
			}
		}
		time.Sleep(modelBase)
	}
}

func (m *model) release() {
	own, err := m.Stat(m.claim)
	if seen, serr := m.Stat("lock"); err == nil && serr == nil && seen.SameFile(own) {
		_ = m.Remove("lock")
	}
	_ = m.Remove(m.claim)
}

// unlinkByName is liblockfile's and procmail's.
func unlinkByName(m *model, _ fsys.Info) error { return m.Remove("lock") }

// touchThenUnlink is Mailman's and flufl.lock's.
func touchThenUnlink(m *model, _ fsys.Info) error {
	if err := m.Touch("lock"); err != nil {
		return err
	}
	return m.Remove("lock")
}

// renameAside moves the lock away and looks whether it was the stale one.
func renameAside(m *model, seen fsys.Info) error {
	aside := "aside." + m.Name()
	if err := m.Rename("lock", aside); err != nil {
		return err
	}
	got, err := m.Stat(aside)
	if err == nil && !got.SameFile(seen) {
		_ = m.Link(aside, "lock") // it was somebody's after all
	}
	return m.Remove(aside)
}

// nestedLock breaks under a second lock, which nobody breaks.
func nestedLock(m *model, seen fsys.Info) error {
	if err := m.Link(m.claim, "break"); err != nil {
		return err
	}
	now, err := m.Stat("lock")
	if err == nil && now.SameFile(seen) && now.Mtime.Equal(seen.Mtime) {
		err = m.Remove("lock")
	}
	if rerr := m.Remove("break"); err == nil {
		err = rerr
	}
	return err
}

// nestedLockWithTakeover breaks the second lock by name when it is old.
func nestedLockWithTakeover(m *model, seen fsys.Info) error {
	if err := nestedLock(m, seen); err == nil {
		return nil
	}
	now, _, err := fsys.ServerNow(m, m.claim)
	if err != nil {
		return err
	}
	if b, err := m.Stat("break"); err == nil && now.Sub(b.Ctime) > modelLife {
		_ = m.Remove("break")
	}
	return errors.New("not now")
}

// modelScenario: one holder crashes, the others want its lock.
func modelScenario(waiters int, breaking bool, breaks func(*model, fsys.Info) error) func(*simfs.Server) error {
	return func(srv *simfs.Server) error {
		mon := newMonitor()
		dead := &model{Host: srv.Host("h0"), breaks: breaks}
		if _, err := dead.acquire(); err != nil {
			return nil // a fault killed it earlier
		}
		if breaking { // a breaker died with its nested lock, too
			_ = dead.Link(dead.claim, "break")
		}
		dead.Crash()
		var wg sync.WaitGroup
		for i := range waiters {
			m := &model{Host: srv.Host(fmt.Sprint("h", 1+i)), breaks: breaks}
			wg.Go(func() { m.work(mon) })
		}
		return wait(&wg, mon, srv, waiters)
	}
}

// wait waits for all processes, and says so if one never comes to its end.
func wait(wg *sync.WaitGroup, mon *monitor, srv *simfs.Server, n int) error {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	timer := time.NewTimer(10 * time.Minute)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		mon.mu.Lock()
		mon.fail(fmt.Errorf("wedged: %d of %d entered in ten minutes", mon.entered, n))
		mon.mu.Unlock()
		srv.Close()
		<-done
	}
	return mon.err
}

func (m *model) work(mon *monitor) {
	deadline, err := m.acquire()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(m.Context(), deadline-m.Mono()())
	defer cancel()
	mon.enter(m.Name(), func() bool { return ctx.Err() == nil }, locking.Token(mon.count()+1), true)
	select {
	case <-time.After(2 * modelBase):
	case <-ctx.Done():
	}
	mon.leave(m.Name())
	m.release()
}
