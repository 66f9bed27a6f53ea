package spool

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// An idle poll is one listing of the queue, however many lists there are, and a
// touch every 30 seconds.
func TestIdlePollCostsOneListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real, _ := openRoot(t)
		calls := map[string]int{}
		f := fsys.Observed(real, fsys.Hook{Before: func(op, name string) error { calls[op]++; return nil }})
		n := newNode(f, newLocker(), "a")
		if ids, err := n.Lists(t.Context(), queue.In); err != nil || len(ids) != 0 {
			t.Fatal("a queue that was never made:", ids, err)
		}
		if _, err := n.Put(t.Context(), post("one")); err != nil {
			t.Fatal(err)
		}
		poll := func() {
			if ids, err := n.Lists(t.Context(), queue.In); err != nil || !slices.Equal(ids, []lists.ID{ant}) {
				t.Errorf("lists %v, %v", ids, err)
			}
		}
		poll()
		time.Sleep(settle)
		poll()
		time.Sleep(healEvery)
		clear(calls)
		for range 300 {
			time.Sleep(time.Second)
			poll()
		}
		if d := cmp.Diff(map[string]int{"readdir": 300, "touch": 10}, calls); d != "" {
			t.Error(d)
		}
	})
}

// Pollers of several hosts do not keep each other busy with their touches.
func TestPollersDoNotAnswerEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{})
		setUp(t, srv.Host("setup"), newLocker(), "one")
		touches := 0
		var hosts []*node
		for _, name := range []string{"a", "b", "c"} {
			f := fsys.Observed(srv.Host(name), fsys.Hook{Before: func(op, name string) error {
				if op == "touch" {
					touches++
				}
				return nil
			}})
			hosts = append(hosts, newNode(f, nil, name))
		}
		for range 60 {
			for _, n := range hosts {
				if _, err := n.Lists(t.Context(), queue.In); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		if touches > 3*7 { // the first look, the change that it was, 2 s of settling, 30 s
			t.Errorf("%d touches in a minute", touches)
		}
	})
}

// Two folders made within one tick of the server's clock, with a poll in between: on
// NFS v3 the second one stays hidden until somebody changes the folder's time.
func TestHiddenNameIsFoundWithinThePollersRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{Version: simfs.V3})
		setUp(t, srv.Host("intake"), newLocker())
		a, b := newNode(srv.Host("intake"), nil, "intake"), newNode(srv.Host("b"), nil, "b")
		put := func(list lists.ID) {
			e := post("x")
			e.List = list
			if _, err := a.Put(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		poll := func() int {
			ids, err := b.Lists(t.Context(), queue.In)
			if err != nil {
				t.Fatal(err)
			}
			return len(ids)
		}
		put("first@example.org")
		poll()
		time.Sleep(5 * time.Second)
		put("second@example.org")
		if got := poll(); got != 2 {
			t.Errorf("%d lists right after the second", got)
		}
		put("third@example.org") // in the same tick as the poll's own touch
		time.Sleep(time.Second)
		if got := poll(); got != 3 {
			t.Errorf("%d lists a second after the third", got)
		}
	})
}

func TestOddNamesAreSaidOnceAndLeftAlone(t *testing.T) {
	f, _ := openRoot(t)
	n := newNode(f, newLocker(), "a")
	for _, name := range []string{"queue/in/not-a-list", "queue/in/" + string(ant) + "/.nfs1", "queue/in/" + string(lists.Site)} {
		if err := fsys.MkdirAll(f, name); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		ids, err := n.Lists(t.Context(), queue.In)
		if d := cmp.Diff([]lists.ID{lists.Site, ant}, ids); err != nil || d != "" {
			t.Error(err, d)
		}
	}
	if got := strings.Count(n.log.String(), "not-a-list"); got != 1 {
		t.Errorf("said %d times", got)
	}
	if ids, err := n.IDs(t.Context(), queue.In, ant); err != nil || len(ids) != 0 {
		t.Errorf("a dot file passes for an entry: %v, %v", ids, err)
	}
}

// The holder's listing of its queue misses a name that came in the tick of an earlier
// one; the server knows better when the folder is to go.
func TestTidyFindsWhatAListingHides(t *testing.T) {
	srv := simfs.New(simfs.Config{Version: simfs.V3})
	l := newLocker()
	setUp(t, srv.Host("intake"), l, "one")
	b := newNode(srv.Host("b"), l, "b")
	h, err := b.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := b.Tidy(t.Context(), ant, queue.In); done || err != nil {
		t.Errorf("a folder with an entry is taken for empty: %v", err)
	}
	if done, err := b.Tidy(t.Context(), ant, queue.Virgin); !done || err != nil {
		t.Errorf("a folder that is not there: %v %v", done, err)
	}
	if err := srv.Host("intake").Mkdir(Dir(queue.In, ant)+"/.nfs1", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.attempt(t.Context(), h, must(b.IDs(t.Context(), queue.In, ant))); err != nil {
		t.Fatal(err)
	}
	if done, err := b.Tidy(t.Context(), ant, queue.In); !done || err != nil {
		t.Errorf("what NFS keeps of removed files counts as work: %v %v", done, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A host polls a queue for the first time before there is one, and another host makes it
// within the same tick of the server's clock: on v3 the first remembers "not there".
func TestQueueThatWasNotThereIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{Version: simfs.V3})
		if err := fsys.MkdirAll(srv.Observer(), root); err != nil {
			t.Fatal(err)
		}
		a, b := newNode(srv.Host("a"), nil, "a"), newNode(srv.Host("b"), nil, "b")
		if _, err := srv.Host("a").Stat(root + "/in"); err == nil {
			t.Fatal("the queue is there already")
		}
		if _, err := b.Put(t.Context(), post("one")); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			if ids, err := a.Lists(t.Context(), queue.In); err != nil || len(ids) > 0 {
				return
			}
			time.Sleep(time.Second)
		}
		t.Error("not found within a minute")
	})
}
