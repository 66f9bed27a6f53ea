package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// freeLocker gives every lock to whoever asks, and takes it from whoever had it:
// all that keeps holders apart is the fence.
type freeLocker struct {
	mu   sync.Mutex
	held map[locking.Key]*freeLease
}

type freeLease struct {
	l      *freeLocker
	key    locking.Key
	token  locking.Token
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newLocker() *freeLocker { return &freeLocker{held: map[locking.Key]*freeLease{}} }

func (l *freeLocker) Lock(ctx context.Context, key locking.Key, _ locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	lease := &freeLease{l: l, key: key}
	lease.ctx, lease.cancel = context.WithCancelCause(context.Background())
	l.mu.Lock()
	if old := l.held[key]; old != nil {
		old.cancel(locking.ErrLost)
	}
	l.held[key] = lease
	l.mu.Unlock()
	if f := locking.Apply(opts).Fencer; f != nil {
		var err error
		if lease.token, err = f.Fence(ctx); err != nil {
			return nil, err
		}
	}
	return lease, nil
}

func (l *freeLocker) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return l.Lock(ctx, key, m, opts...)
}

func (l *freeLease) Key() locking.Key             { return l.key }
func (l *freeLease) Token() locking.Token         { return l.token }
func (l *freeLease) Context() context.Context     { return l.ctx }
func (l *freeLease) Verify(context.Context) error { return context.Cause(l.ctx) }
func (l *freeLease) Unlock(context.Context) error {
	if err := context.Cause(l.ctx); err != nil {
		return err
	}
	l.cancel(locking.ErrReleased)
	return nil
}

// node is one host with its store and its spool.
type node struct {
	*Spool
	store *store.Store
	log   *bytes.Buffer
}

func newNode(f fsys.FS, l locking.Locker, host string) *node {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	return &node{
		Spool: New(Config{FS: f, Host: host, Clock: time.Now, Log: log}),
		store: store.Open(store.Config{FS: f, Locker: l, Host: host}),
		log:   &out,
	}
}

// setUp makes the share's folders and the list ant, and puts one post per subject.
func setUp(t testing.TB, f fsys.FS, l locking.Locker, subjects ...string) {
	t.Helper()
	for _, name := range []string{"lists", "queue"} {
		if err := f.Mkdir(name, fsys.DirPerm); err != nil {
			t.Fatal(err)
		}
	}
	if err := fsys.SyncDir(f, "."); err != nil {
		t.Fatal(err)
	}
	n := newNode(f, l, "setup")
	if err := n.store.Create(t.Context(), ant, nobody); err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects {
		if _, err := n.Put(t.Context(), post(s)); err != nil {
			t.Fatal(err)
		}
	}
}

func post(subject string) *queue.Entry {
	e := small("Subject: " + subject + "\r\n\r\nhello\r\n")
	e.ID, e.Received = "", time.Time{}
	return e
}

// decide is the stage of these tests: a post is sent, archived as an entry and
// filed; one whose subject says so is held, or comes to nothing, or is poison.
func decide(e *queue.Entry) *queue.Outcome {
	subject, _, _ := strings.Cut(strings.TrimPrefix(string(e.Raw), "Subject: "), "\r\n")
	switch {
	case strings.HasPrefix(subject, "hold"):
		return &queue.Outcome{
			Changes:  []store.Change{store.HoldPost{Post: store.HeldPost{ID: subject, Since: noon}}},
			Children: []queue.Child{{File: &queue.File{Path: "held/" + subject, Data: e.Raw}}},
		}
	case strings.HasPrefix(subject, "drop"):
		return &queue.Outcome{}
	case strings.HasPrefix(subject, "poison"):
		return &queue.Outcome{Fate: queue.FateShunt, Reason: "poison\n\nmain.go:1"}
	}
	c := *e
	c.ID, c.Queue = "", queue.Archive
	return &queue.Outcome{Children: []queue.Child{
		{Fanout: &queue.Fanout{Envelope: e.Envelope, Raw: e.Raw, Recipients: people(3)}},
		{Entry: &c},
		{File: &queue.File{Path: "archive/new/" + subject, Data: e.Raw}},
	}}
}

// work is one turn of a holder: all posts of ant, batch of them per commit.
func (n *node) work(ctx context.Context, batch int) (err error) {
	h, err := n.store.Lock(ctx, ant, "test")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := n.Release(ctx, h); err == nil {
			err = rerr
		}
	}()
	if err := n.Recover(ctx, h); err != nil {
		return err
	}
	for {
		ids, err := n.IDs(ctx, queue.In, ant)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			empty, err := n.Tidy(ctx, h.ID(), queue.In)
			if empty || err != nil {
				return err
			}
			continue
		}
		if err := n.attempt(ctx, h, ids[:min(batch, len(ids))]); err != nil {
			return err
		}
	}
}

func (n *node) attempt(ctx context.Context, h *store.Holder, ids []queue.ID) error {
	a := n.NewAttempt(h)
	for _, id := range ids {
		e, err := n.Load(ctx, queue.In, ant, id)
		var bad *CorruptError
		switch {
		case errors.As(err, &bad):
			_, err = a.AddBad(ctx, queue.In, ant, id)
		case err == nil:
			err = a.Add(ctx, e, decide(e))
		}
		if err != nil {
			return err
		}
	}
	return a.Commit(ctx, nobody)
}

// nobody is who acts in these tests.
var nobody = store.By{Actor: "test"}

// acceptHeld lets the held post "hold" go on.
func acceptHeld(ctx context.Context, n *node) error {
	h, err := n.store.Lock(ctx, ant, "test")
	if err != nil {
		return err
	}
	data, err := fsys.ReadFile(n.c.FS, listFile(ant, heldDir, "hold"), MaxSize)
	if err != nil {
		return err
	}
	e := post("")
	e.Queue, e.Raw = queue.Pipeline, data
	a := n.NewAttempt(h)
	o := &queue.Outcome{Changes: []store.Change{store.DropHeld{ID: "hold"}}, Children: []queue.Child{{Entry: e}}}
	if err := a.Add(ctx, nil, o); err != nil {
		return err
	}
	return errors.Join(a.Commit(ctx, nobody), n.Release(ctx, h))
}

// outcome is what became of all posts: where each subject is, as "place subject",
// each place once per copy.
func outcome(t testing.TB, f fsys.FS) map[string]int {
	t.Helper()
	out := map[string]int{}
	note := func(place string, raw []byte) {
		subject, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "Subject: "), "\r\n")
		out[place+" "+subject]++
	}
	s := newNode(f, nil, "look").Spool
	for _, q := range queue.Names {
		if q == queue.Out {
			continue
		}
		for _, name := range dirNames(t, f, Dir(q, ant)) {
			e, err := s.Load(context.Background(), q, ant, queue.ID(name))
			if err != nil {
				out[fmt.Sprintf("%s unreadable", q)]++
				continue
			}
			note(string(q), e.Raw)
		}
	}
	for _, name := range dirNames(t, f, Dir(queue.Out, ant)) {
		fo, r, err := ReadFanout(context.Background(), f, path.Join(Dir(queue.Out, ant), name))
		if err != nil || r.Len() != 3 {
			t.Errorf("fan-out %s: %v", name, err)
			continue
		}
		note("out", fo.Raw)
	}
	for _, dir := range []string{"archive/new", "held"} {
		for _, name := range dirNames(t, f, path.Join("lists", string(ant), dir)) {
			data, err := fsys.ReadFile(f, path.Join("lists", string(ant), dir, name), MaxSize)
			if err != nil {
				t.Error(err)
			}
			note(path.Base(dir), data)
		}
	}
	return out
}

func dirNames(t testing.TB, f fsys.FS, name string) []string {
	t.Helper()
	list, err := f.ReadDir(name)
	if err != nil && !fsys.Gone(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name)
	}
	return out
}

// wanted is the outcome when every post was worked once.
var wanted = map[string]int{
	"out one": 1, "archive one": 1, "new one": 1,
	"held hold": 1, "shunt poison": 1,
}

var subjects = []string{"one", "hold", "poison"}
