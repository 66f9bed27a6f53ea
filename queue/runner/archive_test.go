package runner

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/queue"
)

// An archive that is down for ten minutes is tried again, and keeps no mail of its list
// waiting meanwhile.
func TestArchiveDownKeepsNoMailWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late time.Duration
		posts, tries, kept := 0, 0, 0
		h := newHost(t, share(t), "a", func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			posts++
			_, text, _ := bytes.Cut(w.Entry.Raw, []byte("\r\n\r\n"))
			put, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
			if err != nil {
				return nil, err
			}
			late = max(late, time.Since(put))
			copied := &queue.Entry{Queue: queue.Archive, List: ant, Envelope: w.Entry.Envelope, Raw: w.Entry.Raw}
			return &queue.Outcome{Event: "accepted", Children: []queue.Child{{Entry: copied}}}, nil
		})
		end := time.Now().Add(10 * time.Minute)
		h.cfg.Stages[queue.Archive] = stageFunc(func(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
			tries++
			if time.Now().Before(end) {
				return nil, fmt.Errorf("archive: %w", queue.ErrTrouble)
			}
			kept++
			return done(ctx, w)
		})
		const each = 40 * time.Second
		go func() {
			for range 10 {
				h.put(t, ant, time.Now().Format(time.RFC3339Nano))
				h.Wake(ant)
				time.Sleep(each)
			}
		}()
		h.runFor(t, 15*time.Minute)
		if posts != 10 || kept != 10 || h.count(t, queue.Archive, ant) != 0 || h.count(t, queue.Shunt, ant) != 0 {
			t.Errorf("%d posts, %d archived, %d left, %d parked", posts, kept, h.count(t, queue.Archive, ant), h.count(t, queue.Shunt, ant))
		}
		if late > 10*time.Second {
			t.Errorf("a post waited %v", late)
		}
		if tries > 1000 {
			t.Errorf("%d tries: a tight loop", tries)
		}
		t.Logf("%d tries, latest after %v", tries, late)
	})
}
