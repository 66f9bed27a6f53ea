package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/locking/site"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// node is one host: what a runner does for a list, and no more.
type node struct {
	fs     fsys.FS
	store  *store.Store
	spool  *spool.Spool
	conf   Config
	stages map[queue.Name]queue.Processor
}

func newNode(h *simfs.Host) *node {
	n := &node{fs: h}
	n.connect(h)
	return n
}

func (n *node) connect(h *simfs.Host) {
	log := slog.New(slog.DiscardHandler)
	n.conf = Config{Host: h.Name(), FS: n.fs}
	n.store = store.Open(store.Config{FS: n.fs, Locker: alone{}, Host: h.Name(), Clock: h.Clock(), Log: log})
	n.spool = spool.New(spool.Config{FS: n.fs, Host: h.Name(), Clock: h.Clock(), Log: log})
	n.stages = Table(n.conf)
}

// work takes the list and works until nothing is left: batch entries in one commit.
func (n *node) work(ctx context.Context, batch int) error {
	h, err := n.store.Lock(ctx, liststest.Ant, "test")
	if err != nil {
		return err
	}
	if err := n.spool.Recover(ctx, h); err != nil {
		return err
	}
	for {
		done, err := n.step(ctx, h, batch)
		if err != nil {
			return err
		}
		if done == 0 {
			return n.spool.Release(ctx, h)
		}
	}
}

func (n *node) step(ctx context.Context, h *store.Holder, batch int) (int, error) {
	a, st := n.spool.NewAttempt(h), h.State()
	for _, q := range queue.ListQueues {
		ids, err := n.spool.IDs(ctx, q, liststest.Ant)
		if err != nil || n.stages[q] == nil {
			return 0, err
		}
		for _, id := range ids {
			if a.Len() == batch {
				break
			}
			e, err := n.spool.Load(ctx, q, liststest.Ant, id)
			if err != nil {
				return 0, err
			}
			o, err := n.stages[q].Process(ctx, &queue.Work{Entry: e, List: st.List(), State: st})
			if err != nil {
				return 0, err
			}
			if err := a.Add(ctx, e, o); err != nil {
				return 0, err
			}
			if st, err = st.With(liststest.Day(), o.Changes...); err != nil {
				return 0, err
			}
		}
	}
	return a.Len(), a.Commit(ctx, store.By{Actor: "test"})
}

const crashPosts = 4

// prepare makes a list with readers of both kinds, and puts posts.
func (n *node) prepare(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if _, err := site.Init(ctx, n.fs); err != nil {
		t.Fatal(err)
	}
	if err := n.store.Create(ctx, liststest.Ant, store.By{Actor: "test"},
		store.AddMember{Member: lists.Member{Address: "anne@example.org", Role: lists.RoleMember}},
		store.AddMember{Member: lists.Member{Address: "cris@example.com", Role: lists.RoleMember, Mode: lists.ModeMIMEDigests}},
		store.SetSetting{Name: "digest_size_threshold", Value: "2"}, store.SetSetting{Name: "archive_policy", Value: "never"}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= crashPosts; i++ {
		e := &queue.Entry{Queue: queue.In, List: liststest.Ant, Raw: []byte(digestPost(i))}
		e.Sender, e.Target, e.Source, e.Trace = "anne@example.org", lists.Target{List: liststest.Ant}, "pipe", fmt.Sprint("t", i)
		if _, err := n.spool.Put(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
}

// check looks at what has come of the posts: each is distributed once, and is in one
// digest.
func (n *node) check(t *testing.T) {
	t.Helper()
	dir := "queue/out/" + string(liststest.Ant)
	all, err := n.fs.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var single, digested [crashPosts + 1]int
	for _, e := range all {
		f, _, err := spool.ReadFanout(t.Context(), n.fs, dir+"/"+e.Name)
		if err != nil {
			t.Fatal(err)
		}
		in := &single
		if bytes.Contains([]byte(message.Parse(f.Raw).Get("Subject")), []byte(" Digest, Vol ")) {
			in = &digested
		}
		for i := range in {
			in[i] += bytes.Count(f.Raw, fmt.Appendf(nil, "\r\n\r\nbody %d\r\n", i))
		}
	}
	for i := 1; i <= crashPosts; i++ {
		if single[i] != 1 || digested[i] != 1 {
			t.Errorf("post %d: %d times by itself, in %d digests", i, single[i], digested[i])
		}
	}
	st, err := n.store.Read(t.Context(), liststest.Ant)
	if err != nil || len(st.Digest().Posts) > 0 {
		t.Errorf("%d posts are left, %v", len(st.Digest().Posts), err)
	}
	left, err := n.fs.ReadDir("lists/" + string(liststest.Ant) + "/digest")
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// Whatever call a host dies at, or gets a wrong answer from, each post is in one digest.
func TestDigestSurvivesFaults(t *testing.T) {
	for _, batch := range []int{1, 16} {
		calls := digestUnder(t, batch, simfs.Fault{Nth: 1 << 30, Kind: simfs.CrashAfter})
		stride := 3
		if testing.Short() {
			stride = 41
		}
		for nth := 1; nth <= calls; nth += stride {
			for _, f := range []simfs.Fault{{Kind: simfs.CrashAfter}, {Kind: simfs.LostAnswer}, {Kind: simfs.DoneButError, Errno: syscall.EIO}} {
				f.Nth = nth
				digestUnder(t, batch, f)
				if t.Failed() {
					t.Fatalf("batch %d, %s at call %d of %d", batch, f.Kind, nth, calls)
				}
			}
		}
		t.Logf("batch %d: %d calls", batch, calls)
	}
}

// digestUnder has host a work with a fault, then host b, and returns how many calls a
// made.
func digestUnder(t *testing.T, batch int, f simfs.Fault) int {
	t.Helper()
	srv := simfs.New(simfs.Config{})
	defer srv.Close()
	newNode(srv.Host("setup")).prepare(t)
	f.Host = "a"
	srv.Inject(f)
	host := srv.Host("a")
	a := newNode(host)
	var calls atomic.Int64
	a.fs = fsys.Observed(host, fsys.Hook{Before: func(string, string) error { calls.Add(1); return nil }})
	a.connect(host)
	err := a.work(host.Context(), batch)
	b := newNode(srv.Host("b"))
	if ferr := b.finish(t.Context(), batch); ferr != nil {
		t.Fatalf("batch %d, %s at call %d (%v): %v", batch, f.Kind, f.Nth, err, ferr)
	}
	b.check(t)
	return int(calls.Load())
}

// finish does the work that is left, and sends what waits.
func (n *node) finish(ctx context.Context, batch int) error {
	if err := n.work(ctx, batch); err != nil {
		return err
	}
	st, err := n.store.Read(ctx, liststest.Ant)
	if err != nil || len(st.Digest().Posts) == 0 {
		return err
	}
	if _, err := n.spool.Put(ctx, digestDue(liststest.Ant, "last")); err != nil {
		return err
	}
	return n.work(ctx, batch)
}
