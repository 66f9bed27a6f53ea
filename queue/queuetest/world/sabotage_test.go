package world_test

import (
	"context"
	"io"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// sabotage breaks a promise on purpose; the World must notice. It is what earlier drafts
// did, or what a bad disk does.
type sabotage struct {
	name   string
	config Config
	do     func(ctx context.Context, w *World)
	want   string // in one of the complaints
}

func sabotages() []sabotage {
	return []sabotage{
		{"entry removed behind the log", Config{}, func(ctx context.Context, w *World) {
			_ = w.Post(ctx, "a", Pipe, ant, 1)
			list, _ := w.Eye.ReadDir("queue/in/" + string(ant))
			_ = w.Eye.Remove(path.Join("queue/in", string(ant), list[0].Name))
			w.Run(ctx, 10*time.Second)
		}, "neither in queue/in nor in the log"},
		{"journals lost in the middle of a delivery", Config{Hosts: []string{"a"}, People: 30, Conns: 1, Sink: slow()}, func(ctx context.Context, w *World) {
			_ = w.Start()
			_ = w.Post(ctx, "a", Pipe, ant, 1)
			time.Sleep(4 * time.Second)
			w.Crash("a")
			for _, dir := range w.Below("queue/out/"+string(ant), 0) {
				for _, f := range w.Below(dir, 0) {
					if n := path.Base(f); strings.HasPrefix(n, "journal.") || n == "finished" {
						_ = w.Eye.Remove(f)
					}
				}
			}
			time.Sleep(time.Hour)
			_ = w.Start()
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
		}, "has its 250 in a journal"},
		{"published without the log", Config{}, func(ctx context.Context, w *World) {
			f := w.Share("a")
			_ = fsys.MkdirAll(f, "queue/archive/"+string(ant))
			_ = fsys.WriteNew(f, "queue/tmp.x", func(o io.Writer) error { _, err := o.Write([]byte("x")); return err })
			_ = f.Rename("queue/tmp.x", "queue/archive/"+string(ant)+"/00035d013b37e000.00000001.a.1935c4afa7656915")
			w.Settle(ctx)
		}, "no log names it"},
		{"member dropped from the delivery", Config{Stages: func(_ string, table map[queue.Name]queue.Processor) {
			table[queue.In] = forgetful{table[queue.In]}
		}}, func(ctx context.Context, w *World) {
			_ = w.Start()
			_ = w.Post(ctx, "a", Pipe, ant, 1)
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
		}, "did not get"},
		{"a disk that does not sync", Config{
			FS: func(host string, f fsys.FS) fsys.FS {
				if host == "setup" {
					return f
				}
				return liar{f}
			},
		}, func(ctx context.Context, w *World) {
			_ = w.Post(ctx, "a", Pipe, ant, 1)
			w.Crash("a", "b")
			w.Server.PowerCut()
			_ = w.Start()
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
		}, "was answered 250 and never accepted"},
		{"left over", Config{}, func(ctx context.Context, w *World) {
			f := w.Share("a")
			_ = fsys.MkdirAll(f, "queue/stage/"+string(ant)+"/x.1.1")
			w.Leavings(ctx)
		}, "left over"},
	}
}

// slow is a smarthost that takes a second for a message.
func slow() queuetest.SinkConfig {
	return queuetest.SinkConfig{Script: queuetest.Rules(queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Wait: time.Second}})}
}

// forgetful forgets the last recipient.
type forgetful struct{ queue.Processor }

func (f forgetful) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	out, err := f.Processor.Process(ctx, w)
	if err == nil {
		for _, c := range out.Children {
			if c.Fanout != nil {
				c.Fanout.Recipients = c.Fanout.Recipients[1:]
			}
		}
	}
	return out, err
}

// liar is a share on which sync does nothing.
type liar struct{ fsys.FS }

func (l liar) OpenDir(name string) (fsys.Dir, error) {
	d, err := l.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return lyingDir{d}, nil
}

type lyingDir struct{ fsys.Dir }

func (lyingDir) Sync() error { return nil }

// TestTheWorldNotices: tests that cannot fail are worth nothing.
func TestTheWorldNotices(t *testing.T) {
	for i, s := range sabotages() {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := s.config
				c.Seed, c.Server.AsyncExport = uint64(i), true
				w, err := New(t.Context(), c)
				must(t, err)
				defer w.Close()
				s.do(t.Context(), w)
				if all := strings.Join(w.Broken(), "\n"); !strings.Contains(all, s.want) {
					t.Errorf("nobody complains of %q, only: %s", s.want, all)
				}
			})
		})
	}
}
