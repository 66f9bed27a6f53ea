package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
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
func (w *world) ls(q string) (out []string) {
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
				out = append(out, strings.TrimPrefix(n, "queue/"+q+"/"))
			}
		}
	}
	walk("queue/" + q)
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
	for _, id := range posts {
		for i := range n {
			if got := w.smtp.copies[fmt.Sprintf("%s m%d@example.org", id, i)]; got != 1 {
				w.t.Errorf("m%d got %d copies of %s", i, got, id)
			}
		}
	}
}

// memRoster is a roster by member number.
type memRoster map[lists.MemberID]*lists.Member

func (r memRoster) Find(lists.Role, mailaddr.Address) (*lists.Member, bool) { return nil, false }
func (r memRoster) ByID(id lists.MemberID) (*lists.Member, bool)            { m, ok := r[id]; return m, ok }
func (r memRoster) Count(lists.Role) int                                    { return len(r) }
func (r memRoster) All(role lists.Role) func(func(*lists.Member) bool) {
	return func(yield func(*lists.Member) bool) {
		for _, m := range r {
			if m.Role == role && !yield(m) {
				return
			}
		}
	}
}

// members fills the roster with the members of post.
func (w *world) members(n int) {
	for i := range n {
		id := lists.MemberID(i + 1)
		w.roster[id] = &lists.Member{ID: id, Role: lists.RoleMember, Address: mailaddr.Address(fmt.Sprintf("m%d@example.org", i))}
	}
}

// memLocks is a lock service; a dead host's leases end with their lifetime.
type memLocks struct {
	mu   sync.Mutex
	held map[locking.Key]*memLease
}

type memLease struct {
	locks  *memLocks
	key    locking.Key
	host   *simfs.Host
	ctx    context.Context
	cancel context.CancelCauseFunc
	until  time.Time // once the host is dead
	life   time.Duration
}

type hostLocker struct {
	*memLocks
	host *simfs.Host
}

func (l *hostLocker) Lock(context.Context, locking.Key, locking.Mode, ...locking.Option) (locking.Lease, error) {
	return nil, errors.ErrUnsupported
}

func (l *hostLocker) TryLock(_ context.Context, key locking.Key, _ locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.host.Context().Err() != nil {
		return nil, simfs.ErrCrashed
	}
	if old := l.held[key]; old != nil {
		if old.host.Context().Err() != nil && old.until.IsZero() {
			old.until = time.Now().Add(old.life)
		}
		if old.until.IsZero() || time.Now().Before(old.until) {
			return nil, &locking.HeldError{Key: key}
		}
	}
	m := &memLease{locks: l.memLocks, key: key, host: l.host, life: locking.Apply(opts).Lifetime}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	l.held[key] = m
	return m, nil
}

// revoke takes a lease away, as a steal does.
func (l *memLocks) revoke(key locking.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.held[key]; m != nil {
		delete(l.held, key)
		m.cancel(locking.ErrLost)
	}
}

func (m *memLease) Key() locking.Key         { return m.key }
func (m *memLease) Token() locking.Token     { return 0 }
func (m *memLease) Context() context.Context { return m.ctx }
func (m *memLease) Verify(context.Context) error {
	m.locks.mu.Lock()
	defer m.locks.mu.Unlock()
	if m.locks.held[m.key] != m || m.host.Context().Err() != nil {
		return fmt.Errorf("verify: %w", locking.ErrLost)
	}
	return nil
}

func (m *memLease) Unlock(context.Context) error {
	m.locks.mu.Lock()
	defer m.locks.mu.Unlock()
	if m.locks.held[m.key] != m || m.host.Context().Err() != nil {
		return locking.ErrLost
	}
	delete(m.locks.held, m.key)
	m.cancel(locking.ErrReleased)
	return nil
}

// smarthost answers by script and counts copies by "<entry> <recipient>".
type smarthost struct {
	mu       sync.Mutex
	script   func(t *queue.Transaction, rcpt mailaddr.Address, try int) queue.Reply // nil or zero: 250
	down     *queue.SiteError
	max      int
	pause    time.Duration // of one transaction
	copies   map[string]int
	tries    map[mailaddr.Address]int
	sent     []sentTo
	acquires int
	flying   map[string]int // connections now at work, by host
	most     int
}

type sentTo struct {
	entry  string
	sender mailaddr.Address
	rcpt   mailaddr.Address
	utf8   bool
	at     time.Time
	reply  queue.Reply
}

func newSmarthost() *smarthost {
	return &smarthost{max: 3, copies: map[string]int{}, tries: map[mailaddr.Address]int{}, flying: map[string]int{}}
}

type hostTransport struct {
	*smarthost
	host *simfs.Host
}

func (h *hostTransport) MaxRecipients() int { return h.max }

func (h *hostTransport) Acquire(ctx context.Context) (queue.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acquires++
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if h.down != nil {
		return nil, h.down
	}
	return &memConn{h}, nil
}

type memConn struct{ h *hostTransport }

func (c *memConn) Broken() bool { return false }
func (c *memConn) Release()     {}

func (c *memConn) Send(_ context.Context, t *queue.Transaction) []queue.Reply {
	h := c.h
	h.mu.Lock()
	h.flying[h.host.Name()]++
	h.most = max(h.most, h.flying[h.host.Name()])
	h.mu.Unlock()
	time.Sleep(h.pause)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flying[h.host.Name()]--
	out := make([]queue.Reply, len(t.Recipients))
	entry := entryOf(t.Raw)
	for i, r := range t.Recipients {
		if h.script != nil {
			out[i] = h.script(t, r, h.tries[r])
		}
		if out[i] == (queue.Reply{}) {
			out[i] = queue.Reply{Code: 250, Enhanced: "2.0.0", Text: "ok", Phase: queue.PhaseDot}
		}
		h.tries[r]++
		if out[i].Positive() || (out[i].Code == 0 && out[i].Phase == queue.PhaseDot) {
			h.copies[entry+" "+string(r)]++
		}
		h.sent = append(h.sent, sentTo{entry, t.Sender, r, t.UTF8, time.Now(), out[i]})
	}
	return out
}

func entryOf(raw []byte) string {
	_, rest, _ := bytes.Cut(raw, []byte("Message-ID: <"))
	id, _, _ := bytes.Cut(rest, []byte("@"))
	return string(id)
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// repeats are the recipients for which a repeat was logged.
func (l *logBuffer) repeats() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "possible repeat") {
			_, rest, _ := strings.Cut(line, "rcpt=")
			out[strings.Fields(rest)[0]] = true
		}
	}
	return out
}

func reply(code int, phase queue.Phase, enhanced, text string) queue.Reply {
	return queue.Reply{Code: code, Phase: phase, Enhanced: enhanced, Text: text}
}

func sorted(s []string) []string { slices.Sort(s); return s }
