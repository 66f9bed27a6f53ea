package lockfile

import (
	"context"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// TestSweepFolders: a host dies with the lock of a delivery, and nobody wants that
// delivery again.
func TestSweepFolders(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		ctx := context.Background()
		take := func(n int, key locking.Key) locking.Lease {
			le, err := w.host(n).TryLock(ctx, key, locking.Exclusive, locking.WithLifetime(300*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			return le
		}
		take(0, "out/dead/000000")
		w.host(0).Crash()
		held := take(1, "out/held/000000")
		if err := fsys.MkdirAll(w.srv.Observer(), "locks/out/strange"); err != nil {
			t.Fatal(err)
		}
		w.put2("locks/out/strange/README")
		sweep := func(want ...string) {
			t.Helper()
			if err := w.host(1).SweepFolders(ctx, "out"); err != nil {
				t.Fatal(err)
			}
			list, err := w.srv.Observer().ReadDir("locks/out")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range want {
				if _, ok := fsys.Find(list, name); !ok {
					t.Errorf("%s is gone", name)
				}
			}
			if len(list) != len(want) {
				t.Errorf("left %v, want %v", list, want)
			}
		}
		sweep("dead", "held", "strange")
		time.Sleep(26 * time.Hour)
		sweep("held", "strange")
		if err := held.Verify(ctx); err != nil {
			t.Error(err)
		}
		if err := held.Unlock(ctx); err != nil {
			t.Error(err)
		}
	})
}
