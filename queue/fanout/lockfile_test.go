package fanout

import (
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/simfs"
)

// lockFile is the real Locker of a simulated host.
func (w *world) lockFile(h *simfs.Host, pid int) locking.Locker {
	w.t.Helper()
	l, err := lockfile.New(lockfile.Config{
		FS: h, Host: hosts.Identity{Host: h.Name(), Boot: "boot-" + h.Name(), PID: pid, PIDNS: "1", StartTicks: uint64(pid)},
		Proc: func(pid int) (uint64, error) { return uint64(pid), nil }, Lifetime: 300 * time.Second, Mono: h.Mono(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// TestWithLockFiles: two hosts share a post by lock files; one dies, the other takes
// its range over when its claim has expired.
func TestWithLockFiles(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = 2 * time.Second
		f := w.post(60)
		f.VERP = true
		id := w.send(f)
		a, b := w.srv.Host("a"), w.srv.Host("b")
		ca, cb := w.config(a), w.config(b)
		ca.Locker, cb.Locker = w.lockFile(a, 101), w.lockFile(b, 102)
		stopA := w.start(a, ca)
		defer w.start(b, cb)()
		time.Sleep(5 * time.Second)
		a.Crash()
		stopA()
		began := time.Now()
		w.settled(time.Hour)
		if d := time.Since(began); d < 4*time.Minute || d > 8*time.Minute {
			t.Errorf("settled %v after the crash, the claims last 5 minutes", d)
		}
		logged := w.log.repeats()
		for r, n := range w.smtp.copied() {
			if n > 1 && !logged[r[len(id)+1:]] {
				t.Errorf("%s: %d copies, not logged", r, n)
			}
		}
		if len(w.smtp.copied()) != 60 {
			t.Errorf("%d of 60 served", len(w.smtp.copied()))
		}
		if left := w.below("locks"); len(left) > 0 {
			t.Errorf("left over in locks/: %v", left)
		}
	})
}
