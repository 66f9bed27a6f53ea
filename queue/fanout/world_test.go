package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// world is a simulated share, a lock service and a smarthost, for tests in bubbles.
type world struct {
	t     *testing.T
	srv   *simfs.Server
	eye   *simfs.Host // looks, and puts posts
	locks *memLocks
	smtp  *smarthost
	log   *logBuffer
	seq   uint64
	poll  time.Duration // of the hosts; tests that take days walk less often

	mu      sync.Mutex
	roster  memRoster
	noRost  error
	notices []*queue.Entry // put for the site owner

	consumed []string // bounce events
}

func newWorld(t *testing.T, cfg simfs.Config) *world {
	w := &world{t: t, srv: simfs.New(cfg), locks: &memLocks{held: map[locking.Key]*memLease{}},
		smtp: newSmarthost(), log: &logBuffer{}, roster: memRoster{}, poll: time.Second}
	t.Cleanup(w.srv.Close)
	w.eye = w.srv.Observer()
	for _, q := range []string{"queue/out", "queue/retry", "queue/tmp"} {
		if err := fsys.MkdirAll(w.eye, q); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// config is a host's configuration; tests change it before they start the host.
func (w *world) config(h *simfs.Host) Config {
	return Config{
		FS: h, Locker: &hostLocker{w.locks, h}, Transport: &hostTransport{w.smtp, h},
		Roster: w.people, Put: w.put, Host: h.Name(), Clock: h.Clock(),
		Log:       slog.New(slog.NewTextHandler(w.log, nil)).With("host", h.Name()),
		BatchSize: 10, Workers: 3, Conns: 4, Poll: w.poll,
	}
}

// start runs a sender until the returned function is called (or its host crashes).
func (w *world) start(h *simfs.Host, c Config) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	done := make(chan error, 1)
	go func() { done <- New(c).Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	})
}

func (w *world) host(name string) (stop func()) {
	h := w.srv.Host(name)
	return w.start(h, w.config(h))
}

func (w *world) people(context.Context, lists.ID) (lists.Roster, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.roster, w.noRost
}

func (w *world) put(_ context.Context, e *queue.Entry) (queue.ID, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, e)
	return "x", nil
}

const ant = lists.ID("ant@example.com")

// post is a bulk post of n members, m0@example.org and so on.
func (w *world) post(n int) *queue.Fanout {
	f := &queue.Fanout{List: ant, Bulk: true, Bounces: ant.Bounces()}
	f.Trace, f.Source = "t1", "internal"
	f.Received = time.Now()
	for i := range n {
		a := mailaddr.Address(fmt.Sprintf("m%d@example.org", i))
		f.Recipients = append(f.Recipients, lists.Recipient{Kind: lists.KindMember, Member: lists.MemberID(i + 1), Address: a})
	}
	return f
}

// send puts a fan-out into out/.
func (w *world) send(f *queue.Fanout) queue.ID {
	w.t.Helper()
	w.seq++
	id := queue.NewID(time.Now(), w.seq, "seed", w.seq)
	if f.Raw == nil {
		f.Raw = []byte("Subject: hello\r\nMessage-ID: <" + string(id) + "@x>\r\n\r\nbody\r\n")
	}
	dir := "queue/out/" + string(f.List)
	if err := fsys.MkdirAll(w.eye, dir); err != nil {
		w.t.Fatal(err)
	}
	stage := "queue/tmp/" + string(id)
	if err := spool.WriteFanout(w.t.Context(), w.eye, stage, f); err != nil {
		w.t.Fatal(err)
	}
	if err := w.eye.Rename(stage, dir+"/"+string(id)); err != nil {
		w.t.Fatal(err)
	}
	for _, d := range []string{dir, "queue/tmp"} {
		if err := fsys.SyncDir(w.eye, d); err != nil {
			w.t.Fatal(err)
		}
	}
	return id
}

// ls lists the files below queue/<q>, any depth, without folders.
func (w *world) ls(q string) (out []string) { return w.below("queue/" + q) }

func (w *world) below(top string) (out []string) {
	var walk func(dir string)
	walk = func(dir string) {
		list, err := w.eye.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range list {
			if n := dir + "/" + e.Name; e.Type.IsDir() {
				walk(n)
			} else {
				out = append(out, strings.TrimPrefix(n, top+"/"))
			}
		}
	}
	walk(top)
	return out
}

// settled waits until out/, retry/ and done/ are empty.
func (w *world) settled(limit time.Duration) {
	w.t.Helper()
	end := time.Now().Add(limit)
	for len(w.ls("out"))+len(w.ls("retry"))+len(w.ls("done")) > 0 {
		if time.Now().After(end) {
			w.t.Fatalf("not settled after %v: out %v retry %v done %v\n%s", limit, w.ls("out"), w.ls("retry"), w.ls("done"), w.log)
		}
		time.Sleep(w.poll / 2)
	}
}

// consume takes bounce events out of their queue as they come, as a list's holder does,
// so that one that is published twice is seen twice.
func (w *world) consume() (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				return
			case <-time.After(2 * time.Second):
			}
			for _, n := range w.ls("bounces") {
				_ = fsys.SyncDir(w.eye, path.Dir("queue/bounces/"+n)) // a power cut must not undo what follows
				if w.eye.Remove("queue/bounces/"+n) == nil {
					_ = fsys.SyncDir(w.eye, path.Dir("queue/bounces/"+n))
					w.consumed = append(w.consumed, path.Base(n))
				}
			}
		}
	}()
	return func() { close(end); <-done }
}

// entries reads the entries of a list's queue.
func (w *world) entries(q queue.Name) (out []*queue.Entry) {
	w.t.Helper()
	for _, n := range w.ls(string(q)) {
		data, err := fsys.ReadFile(w.eye, "queue/"+string(q)+"/"+n, 1<<20)
		if err != nil {
			w.t.Fatal(err)
		}
		e, err := spool.Decode(data)
		if err != nil {
			w.t.Fatalf("%s: %v", n, err)
		}
		if string(e.ID) != path.Base(n) {
			w.t.Errorf("entry %s under the name %s", e.ID, n)
		}
		out = append(out, e)
	}
	return out
}

// once checks that each of n members got exactly one copy of each of the posts.
func (w *world) once(n int, posts ...queue.ID) {
	w.t.Helper()
	copied := w.smtp.copied()
	for _, id := range posts {
		for i := range n {
			if got := copied[fmt.Sprintf("%s m%d@example.org", id, i)]; got != 1 {
				w.t.Errorf("m%d got %d copies of %s", i, got, id)
			}
		}
	}
}
