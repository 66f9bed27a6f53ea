package trace

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking/fsys"
)

func open(t *testing.T) fsys.FS {
	t.Helper()
	f, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func newLog(f fsys.FS, host string, out io.Writer) *Log {
	return New(Config{FS: f, Host: host, Clock: time.Now, Log: slog.New(slog.NewTextHandler(out, nil))})
}

// running starts l and returns what stops it and waits for its end.
func running(l *Log) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		_ = l.Run(ctx)
		close(done)
	}()
	return func() {
		cancel()
		<-done
	}
}

func words(list []Event) string {
	var out []string
	for _, e := range list {
		out = append(out, e.Host+":"+e.Event)
	}
	return strings.Join(out, " ")
}

func TestStoryOverHostsAndDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		a, b := newLog(f, "a", io.Discard), newLog(f, "b", io.Discard)
		stopA, stopB := running(a), running(b)
		ctx := t.Context()
		a.Add(ctx, Event{Trace: "t1", MessageID: "<x@y>", Event: "received"})
		a.Add(ctx, Event{Trace: "t2", MessageID: "<z@y>", Event: "received"})
		time.Sleep(20 * time.Hour)
		b.Add(ctx, Event{Trace: "t1", Event: "accepted"})
		time.Sleep(20 * time.Hour)
		a.Add(ctx, Event{Trace: "t1", Event: "sent", Rcpt: "anne@example.org"})
		stopA()
		stopB()
		for _, name := range []string{"x@y", "<x@y>", "t1"} {
			got, err := Story(ctx, f, name)
			if err != nil || words(got) != "a:received b:accepted a:sent" {
				t.Errorf("story of %s: %q, %v", name, words(got), err)
			}
		}
		if got, err := Story(ctx, f, "<nobody@y>"); len(got) != 0 || err != nil {
			t.Errorf("story of nobody: %v %v", got, err)
		}
		if err := a.Prune(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := Story(ctx, f, "t1")
		if err != nil || words(got) != "b:accepted a:sent" {
			t.Errorf("after pruning a's old days: %q, %v", words(got), err)
		}
	})
}

func TestAddNeverWaits(t *testing.T) {
	l := newLog(open(t), "a", io.Discard) // nobody runs it
	for range maxWaiting + 5 {
		l.Add(t.Context(), Event{Trace: "t", Event: "x"})
	}
	all := uint64(0)
	for _, n := range l.Counts() {
		all += n
	}
	if all != maxWaiting+5 {
		t.Errorf("counted %d events", all)
	}
	if l.Dropped() != 5 {
		t.Errorf("dropped %d, want 5", l.Dropped())
	}
	var none *Log
	none.Add(t.Context(), Event{})
}

func TestTroubleIsSaidOnceAndTornLinesAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real := open(t)
		var ill atomic.Bool
		f := fsys.Observed(real, fsys.Hook{After: func(op, name string, err error) error {
			if ill.Load() && op == "write" {
				return syscall.ENOSPC
			}
			return err
		}})
		var out bytes.Buffer
		l := newLog(f, "a", &out)
		stop := running(l)
		step := func(word string) {
			l.Add(t.Context(), Event{Trace: "t", Event: word})
			time.Sleep(2 * every)
			synctest.Wait()
		}
		step("one")
		ill.Store(true)
		step("two")
		step("three")
		ill.Store(false)
		tear(t, real)
		step("four")
		stop()
		got, err := Search(t.Context(), real, func(*Event) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		// "two" was written before its error: a lost answer, counted as lost.
		if d := cmp.Diff("a:one a:two a:four", words(got)); d != "" {
			t.Error(d)
		}
		if l.Dropped() != 2 || strings.Count(out.String(), "being lost") != 1 {
			t.Errorf("dropped %d, log:\n%s", l.Dropped(), out.String())
		}
	})
}

// tear leaves half a line at the end of the only trace file.
func tear(t *testing.T, f fsys.FS) {
	t.Helper()
	if err := walk(f, func(name string) error {
		w, err := f.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = w.Write([]byte(`{"time":"2026-`))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"time":"2026-01-02T03:04:05Z","host":"a","trace":"t","event":"sent"}` + "\n"))
	f.Add([]byte(`{"time":"2026-`))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if e, ok := parse(line); ok && e.Event == "" {
			t.Error("an event without a word passes")
		}
	})
}
