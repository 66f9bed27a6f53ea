package lockfile

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/simfs"
)

// TestOneEpisodeIsOneLine: ten minutes in which the lock cannot be read are told once.
func TestOneEpisodeIsOneLine(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		var log bytes.Buffer
		le := w.lock(0)
		w.srv.Inject(simfs.Fault{Host: "h1", Op: "open", Name: "lock", Kind: simfs.Refuse})
		l := w.host(1)
		l.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		for range 600 {
			if _, err := l.TryLock(context.Background(), listKey, locking.Exclusive); !isHeld(err) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(log.String(), "examine lock"); n != 1 {
			t.Errorf("%d lines:\n%s", n, log.String())
		}
		w.unlock(le)
	})
}
