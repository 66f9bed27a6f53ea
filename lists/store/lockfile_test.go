package store

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/simfs"
)

// The real lock file, three hosts, one list.
func TestWithTheLockFile(t *testing.T) {
	for _, v := range []simfs.Version{simfs.V3, simfs.V42} {
		t.Run(fmt.Sprintf("nfs%d", v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { lockFileWorld(t, v) })
		})
	}
}

func lockFileWorld(t *testing.T, v simfs.Version) {
	server := simfs.New(simfs.Config{Version: v, Scheduler: simfs.Random(1), Latency: time.Millisecond})
	defer server.Close()
	w := &world{t: t, fs: server.Observer(), view: func(h string) fsys.FS { return server.Host(h) }, locks: newLocks()}
	w.init()
	w.create(w.host("maker"))
	var p promises
	var all sync.WaitGroup
	var last *Store
	for i := range 3 {
		name := fmt.Sprint("h", i)
		l, err := lockfile.New(lockfile.Config{
			FS: server.Host(name), Host: hosts.Identity{Host: name, Boot: name, PID: 1, Nonce: fmt.Sprintf("%016x", i)},
			Lifetime: 90 * time.Second, Mono: server.Host(name).Mono(),
		})
		if err != nil {
			t.Fatal(err)
		}
		s := w.hostOn(server.Host(name), name, 20)
		s.Locker = l
		last = s
		all.Go(func() {
			for k := range 5 {
				h, err := s.Lock(t.Context(), testList, "work")
				if err != nil {
					t.Error(err)
					return
				}
				if h.Unclean() || h.Token() == 0 {
					t.Errorf("token %d, unclean %v", h.Token(), h.Unclean())
				}
				a := mailaddr.Address(fmt.Sprintf("%s.%d@example.com", name, k))
				p.note(a, h.Commit(t.Context(), By{Actor: name}, AddMember{lists.Member{Role: lists.RoleMember, Address: a}}))
				if err := h.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(p.acked) != 15 {
		t.Errorf("%d commits, want 15", len(p.acked))
	}
	p.check(t, w.read(last))
	chained(t, w)
}

// Readers, a holder and the collector at once in one process.
func TestReadersBesideAHolder(t *testing.T) {
	w := newWorld(t)
	s := w.hostOn(w.fs, "a", 10)
	w.create(s)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		all.Go(func() {
			var last uint64
			for {
				select {
				case <-stop:
					return
				default:
				}
				st, err := s.Read(t.Context(), testList)
				if err != nil {
					t.Error(err)
					return
				}
				l := st.List()
				if n := uint64(l.Roster.Count(lists.RoleMember)); n != l.PostID || n < last {
					t.Errorf("%d members, post id %d, before %d", n, l.PostID, last)
					return
				}
				last = l.PostID
			}
		})
	}
	for i := range 60 {
		h := w.lock(s)
		w.commit(h, AddMember{member(i)}, SetPostID{uint64(i + 1)})
		w.release(h)
	}
	close(stop)
	all.Wait()
}
