package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/locking/site"
)

// locks is a lock service in memory that several stores share. Steal takes a lock
// away without telling its holder: the world in which a lease lapses while its
// owner sleeps.
type locks struct {
	mu   sync.Mutex
	held map[locking.Key]*lease
	free chan struct{} // closed and replaced at each release
}

func newLocks() *locks { return &locks{held: map[locking.Key]*lease{}, free: make(chan struct{})} }

type lease struct {
	l      *locks
	key    locking.Key
	token  locking.Token
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (l *locks) take(key locking.Key) (*lease, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] != nil {
		return nil, l.free
	}
	le := &lease{l: l, key: key}
	le.ctx, le.cancel = context.WithCancelCause(context.Background())
	l.held[key] = le
	return le, nil
}

func (l *locks) Lock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	for {
		le, free := l.take(key)
		if le != nil {
			return le.enter(opts)
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *locks) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	le, _ := l.take(key)
	if le == nil {
		return nil, &locking.HeldError{Key: key}
	}
	return le.enter(opts)
}

func (le *lease) enter(opts []locking.Option) (locking.Lease, error) {
	if f := locking.Apply(opts).Fencer; f != nil {
		t, err := f.Fence(le.ctx)
		if err == nil {
			err = le.Verify(le.ctx)
		}
		if err != nil {
			_ = le.Unlock(context.Background())
			return nil, err
		}
		le.token = t
	}
	return le, nil
}

// Steal frees the key behind its holder's back.
func (l *locks) Steal(key lists.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, locking.Key(key))
	close(l.free)
	l.free = make(chan struct{})
}

func (le *lease) Key() locking.Key         { return le.key }
func (le *lease) Token() locking.Token     { return le.token }
func (le *lease) Context() context.Context { return le.ctx }

func (le *lease) Verify(context.Context) error {
	le.l.mu.Lock()
	defer le.l.mu.Unlock()
	if le.l.held[le.key] != le {
		return locking.ErrLost
	}
	return nil
}

func (le *lease) Unlock(ctx context.Context) error {
	err := le.Verify(ctx)
	if err == nil {
		le.l.Steal(lists.ID(le.key))
	}
	le.cancel(locking.ErrReleased)
	return err
}

// world is a share with one lock service, seen by hosts.
type world struct {
	t     testing.TB
	fs    fsys.FS // the test's own view
	view  func(host string) fsys.FS
	locks *locks
}

// defaultSim is NFS v4.2.
var defaultSim = simfs.Config{}

const testList = lists.ID("news@example.org")

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := &world{t: t, fs: root, view: func(string) fsys.FS { return root }, locks: newLocks()}
	w.init()
	return w
}

// newSim is a world on a simulated NFS server, each host with caches of its own.
func newSim(t testing.TB, cfg simfs.Config) *world {
	t.Helper()
	server := simfs.New(cfg)
	w := &world{t: t, fs: server.Observer(), view: func(h string) fsys.FS { return server.Host(h) }, locks: newLocks()}
	w.init()
	return w
}

// onEach runs a test on a real folder and on both versions of simulated NFS.
func onEach(t *testing.T, run func(t *testing.T, w *world)) {
	t.Run("local", func(t *testing.T) { run(t, newWorld(t)) })
	t.Run("nfs3", func(t *testing.T) { run(t, newSim(t, simfs.Config{Version: simfs.V3})) })
	t.Run("nfs4", func(t *testing.T) { run(t, newSim(t, simfs.Config{Version: simfs.V42})) })
}

func (w *world) init() {
	w.t.Helper()
	if _, err := site.Init(w.t.Context(), w.fs); err != nil {
		w.t.Fatal(err)
	}
	if err := fsys.MkdirAll(w.fs, root); err != nil {
		w.t.Fatal(err)
	}
}

// host is another process on the share.
func (w *world) host(name string) *Store { return w.hostOn(w.view(name), name, 0) }

func (w *world) hostOn(f fsys.FS, name string, every int) *Store {
	return Open(Config{FS: f, Locker: w.locks, Host: name, SnapshotEvery: every,
		Log:   slog.New(slog.NewTextHandler(testLog{w.t}, nil)),
		Clock: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }})
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("log: %s", p)
	return len(p), nil
}

var _ io.Writer = testLog{}

// create makes the test list.
func (w *world) create(s *Store) {
	w.t.Helper()
	if err := s.Create(w.t.Context(), testList, By{Actor: "test"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lock(s *Store) *Holder {
	w.t.Helper()
	h, err := s.Lock(w.t.Context(), testList, "test")
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *world) commit(h *Holder, cs ...Change) {
	w.t.Helper()
	if err := h.Commit(w.t.Context(), By{Actor: "test", Reason: "because"}, cs...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) release(h *Holder, cs ...Change) {
	w.t.Helper()
	if err := h.Release(w.t.Context(), cs...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(s *Store) *State {
	w.t.Helper()
	st, err := s.Read(w.t.Context(), testList)
	if err != nil {
		w.t.Fatal(err)
	}
	return st
}

// work runs n grants with one commit each.
func (w *world) work(s *Store, n int) {
	w.t.Helper()
	for range n {
		h := w.lock(s)
		w.commit(h, SetPostID{N: h.State().List().PostID + 1})
		w.release(h)
	}
}

func member(i int) lists.Member {
	return lists.Member{Role: lists.RoleMember, Address: mailaddr.Address(fmt.Sprintf("user%07d@example.com", i)),
		Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// wantErr fails unless err is target.
func wantErr(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error %v, want %v", err, target)
	}
}
