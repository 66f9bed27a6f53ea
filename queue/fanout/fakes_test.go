package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// memRoster is a roster by member number.
type memRoster map[lists.MemberID]*lists.Member

func (r memRoster) Find(role lists.Role, a mailaddr.Address) (*lists.Member, bool) {
	for _, m := range r {
		if m.Role == role && m.Address.Key() == a.Key() {
			return m, true
		}
	}
	return nil, false
}
func (r memRoster) ByID(id lists.MemberID) (*lists.Member, bool) { m, ok := r[id]; return m, ok }
func (r memRoster) Count(lists.Role) int                         { return len(r) }
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

// tried, copied and count are what happened so far.
func (h *smarthost) tried() []sentTo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sent)
}

func (h *smarthost) copied() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.copies)
}

func (h *smarthost) count(r mailaddr.Address) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tries[r]
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
