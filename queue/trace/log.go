package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

const (
	// maxWaiting is how many events may wait to be written.
	maxWaiting = 8192
	// every is how long an event waits at most while the share is well.
	every = time.Second
	// maxWrite ends the collecting of a batch, in octets.
	maxWrite = 256 << 10
)

// Config is what a Log needs; all fields must be set.
type Config struct {
	FS   fsys.FS
	Host string
	// Clock dates events.
	Clock clock.Clock
	Log   *slog.Logger
}

// Log takes this host's events.
type Log struct {
	c       Config
	events  chan Event
	dropped atomic.Uint64
	counts  sync.Map // name of an event -> *atomic.Uint64
}

// New makes a Log. Nothing is written until Run runs.
func New(c Config) *Log { return &Log{c: c, events: make(chan Event, maxWaiting)} }

// Add takes an event. It never blocks; when too many wait to be written, e is
// dropped and counted. A nil Log drops everything. Any goroutine may call it, at
// any time; what comes after the end of Run is not written.
func (l *Log) Add(_ context.Context, e Event) {
	if l == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = l.c.Clock()
	}
	e.Time, e.Host = e.Time.UTC(), l.c.Host
	n, ok := l.counts.Load(e.Event)
	if !ok {
		n, _ = l.counts.LoadOrStore(e.Event, new(atomic.Uint64))
	}
	n.(*atomic.Uint64).Add(1)
	select {
	case l.events <- e:
	default:
		l.dropped.Add(1)
	}
}

// Dropped is how many events were lost since the start.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Counts is how many events there were since the start, by name; dropped ones too.
func (l *Log) Counts() map[string]uint64 {
	out := map[string]uint64{}
	l.counts.Range(func(name, n any) bool {
		out[name.(string)] = n.(*atomic.Uint64).Load()
		return true
	})
	return out
}

// Run writes what Add takes until ctx ends, then writes what is left and returns
// nil. The share's troubles are logged, once until it is well again.
func (l *Log) Run(ctx context.Context) error {
	w := writer{l: l}
	defer w.close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case e := <-l.events:
			w.add(ctx, e)
			if w.buf.Len() >= maxWrite {
				w.flush(ctx)
			}
		case <-tick.C:
			w.flush(ctx)
		case <-ctx.Done():
			w.drain(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// writer appends to the day's file; only Run's goroutine has it.
type writer struct {
	l     *Log
	day   string
	file  fsys.File
	buf   bytes.Buffer
	count uint64 // events in buf
	ill   bool   // the last write went wrong, and the log says so
}

func (w *writer) drain(ctx context.Context) {
	for {
		select {
		case e := <-w.l.events:
			w.add(ctx, e)
		default:
			w.flush(ctx)
			return
		}
	}
}

func (w *writer) add(ctx context.Context, e Event) {
	if day := e.Time.Format(dayForm); day != w.day {
		w.flush(ctx)
		w.close()
		w.day = day
	}
	line, err := json.Marshal(e)
	if err != nil {
		w.l.dropped.Add(1)
		return
	}
	w.buf.Write(append(line, '\n'))
	w.count++
}

// flush writes the batch in one call. What cannot be written is dropped: memory is
// for mail.
func (w *writer) flush(ctx context.Context) {
	if w.count == 0 {
		return
	}
	err := w.write()
	if err != nil {
		w.l.dropped.Add(w.count)
		w.close()
		if !w.ill {
			w.l.c.Log.WarnContext(ctx, "traces are being lost", "host", w.l.c.Host, "err", err)
		}
	}
	w.ill = err != nil
	w.buf.Reset()
	w.count = 0
}

func (w *writer) write() error {
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	_, err := w.file.Write(w.buf.Bytes())
	return err
}

// open opens the day's file. An empty line first: the last one may be torn.
func (w *writer) open() error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	name := path.Join(root, w.l.c.Host, w.day+suffix)
	f, err := w.l.c.FS.OpenFile(name, flags, fsys.FilePerm)
	if fsys.Gone(err) {
		if err := fsys.MkdirAll(w.l.c.FS, path.Dir(name)); err != nil {
			return err
		}
		f, err = w.l.c.FS.OpenFile(name, flags, fsys.FilePerm)
	}
	if err != nil {
		return err
	}
	w.file = f
	_, err = f.Write([]byte("\n"))
	return err
}

func (w *writer) close() {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
}
