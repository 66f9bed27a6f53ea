package spool

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// errnos are what a share in trouble answers.
var errnos = []syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES}

// faultsAt is every way in which one call goes wrong.
func faultsAt(nth int, errnos []syscall.Errno) []simfs.Fault {
	list := []simfs.Fault{
		{Nth: nth, Kind: simfs.CrashAfter},
		{Nth: nth, Kind: simfs.LostAnswer},
		{Nth: nth, Kind: simfs.Duplicate, After: 3},
	}
	for _, e := range errnos {
		list = append(list, simfs.Fault{Nth: nth, Kind: simfs.Refuse, Errno: e})
		if e != syscall.ESTALE { // nobody says so of a call that was done
			list = append(list, simfs.Fault{Nth: nth, Kind: simfs.DoneButError, Errno: e})
		}
	}
	return list
}

// everyFault runs try with each fault at each call that host "a" makes in it, until
// there are no more calls for a crash to hit.
func everyFault(t *testing.T, cfg simfs.Config, errnos []syscall.Errno, try func(t *testing.T, srv *simfs.Server, f simfs.Fault)) {
	for nth := 1; ; nth += stride() {
		for _, fault := range faultsAt(nth, errnos) {
			fault.Host = "a"
			srv := simfs.New(cfg)
			a := srv.Host("a")
			t.Run(fmt.Sprintf("call%d/%s-%s", nth, fault.Kind, fault.Errno), func(t *testing.T) { try(t, srv, fault) })
			dead := crashed(a)
			srv.Close()
			if fault.Kind == simfs.CrashAfter && !dead {
				t.Logf("%d calls", nth-1)
				return
			}
		}
	}
}

// stride is how many calls lie between those that faults hit: -short is for a first
// look.
func stride() int {
	if testing.Short() {
		return 9
	}
	return 1
}

func crashed(h *simfs.Host) bool { return h.Context().Err() != nil }

// Whatever goes wrong at whatever call of a turn, the turns after it (on the same
// host, or on another one if this one died) end with every post done once.
func TestEveryFaultOfATurn(t *testing.T) {
	everyFault(t, simfs.Config{Version: simfs.V3}, errnos[:2], func(t *testing.T, srv *simfs.Server, fault simfs.Fault) {
		l := newLocker()
		setUp(t, srv.Host("setup"), l, subjects...)
		host := srv.Host("a")
		a, b := newNode(host, l, "a"), newNode(srv.Host("b"), l, "b")
		srv.Inject(fault)
		err := a.work(t.Context(), 3)
		if crashed(host) || err == nil {
			a = b
		}
		for range 3 {
			if err = a.work(t.Context(), 3); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatalf("the trouble is over, and yet: %v", err)
		}
		settled(t, srv, l)
	})
}

// settled checks that every post was done once, and that what was left over goes
// away by itself.
func settled(t *testing.T, srv *simfs.Server, l locking.Locker) {
	t.Helper()
	if d := cmp.Diff(wanted, outcome(t, srv.Observer())); d != "" {
		t.Error(d)
	}
	// Two days later, and on a host that has not seen anything yet: a cache that
	// hides what is left over is not what this is about.
	srv.SetClock(48 * time.Hour)
	n := newNode(srv.Host("late"), l, "late")
	if err := n.work(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if err := n.SweepTmp(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := dirNames(t, srv.Observer(), "queue/stage/"+string(ant))
	left = append(left, dirNames(t, srv.Observer(), "queue/tmp")...)
	left = append(left, dirNames(t, srv.Observer(), "queue/in")...)
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	st, err := n.store.Read(t.Context(), ant)
	if err != nil || len(st.Handovers()) > 0 {
		t.Errorf("open hand-overs: %v, %v", st.Handovers(), err)
	}
}

// A post that Put accepted is there, once; one that it did not accept leaves nothing
// that anybody would read, unless the host died in the middle.
func TestEveryFaultOfPut(t *testing.T) {
	everyFault(t, simfs.Config{}, errnos, func(t *testing.T, srv *simfs.Server, fault simfs.Fault) {
		setUp(t, srv.Host("setup"), newLocker())
		host := srv.Host("a")
		a := newNode(host, newLocker(), "a")
		srv.Inject(fault)
		e := post("one")
		id, err := a.Put(t.Context(), e)
		got := outcome(t, srv.Observer())
		switch {
		case err == nil && (id != e.ID || e.Received.IsZero()):
			t.Errorf("entry not filled: %+v", e)
		case err == nil:
			if d := cmp.Diff(map[string]int{"in one": 1}, got); d != "" {
				t.Error(d)
			}
		case crashed(host):
			if got["in unreadable"] > 0 || got["in one"] > 1 {
				t.Errorf("after the crash: %v", got)
			}
		default:
			if e.ID != "" || len(got) > 0 {
				t.Errorf("refused (%v), and yet: %v", err, got)
			}
			if left := dirNames(t, srv.Observer(), "queue/tmp"); len(left) > 0 {
				t.Errorf("left in tmp: %v after %v", left, err)
			}
		}
		srv.Heal()
		if _, err := newNode(srv.Host("a"), newLocker(), "a").Put(t.Context(), post("two")); err != nil {
			t.Errorf("the trouble is over, and yet: %v", err)
		}
	})
}

// A power cut after any call loses no post that was accepted, and repeats none.
func TestPowerCutInATurn(t *testing.T) {
	for seed := range uint64(2) {
		for at := 1; ; at += stride() {
			cfg := simfs.Config{Local: true, Seed: seed}
			srv := simfs.New(cfg)
			l := newLocker()
			setUp(t, srv.Host("setup"), l, subjects...)
			srv.Inject(simfs.Fault{Host: "a", Nth: at, Kind: simfs.CrashAfter})
			host := srv.Host("a")
			err := newNode(host, l, "a").work(t.Context(), 3)
			dead := crashed(host)
			host.Crash()
			srv.Host("setup").Crash()
			srv.PowerCut()
			b := newNode(srv.Host("b"), l, "b")
			if err := b.work(t.Context(), 3); err != nil {
				t.Fatalf("seed %d, call %d: %v", seed, at, err)
			}
			settled(t, srv, l)
			if t.Failed() {
				t.Fatalf("seed %d, call %d", seed, at)
			}
			if !dead {
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d calls", at-1)
				break
			}
		}
	}
}

// What Put accepted outlives a power cut at any later moment; a power cut within
// Put leaves a whole entry or none.
func TestPowerCutInPut(t *testing.T) {
	for seed := range uint64(8) {
		for at := 1; ; at++ {
			srv := simfs.New(simfs.Config{Local: true, Seed: seed})
			setUp(t, srv.Host("setup"), newLocker())
			srv.Inject(simfs.Fault{Host: "a", Nth: at, Kind: simfs.CrashAfter})
			host := srv.Host("a")
			_, err := newNode(host, newLocker(), "a").Put(t.Context(), post("one"))
			dead := crashed(host)
			host.Crash()
			srv.Host("setup").Crash()
			srv.PowerCut()
			got := outcome(t, srv.Host("b"))
			if got["in unreadable"] > 0 || err == nil && got["in one"] != 1 {
				t.Fatalf("seed %d, call %d: Put said %v, after the power cut: %v", seed, at, err, got)
			}
			if !dead {
				break
			}
		}
	}
}

// Two processes on a local disk: the folder was made by the other one, which has not
// synced it. What Put accepts stays all the same.
func TestPutIntoAFolderThatNobodySynced(t *testing.T) {
	for seed := range uint64(16) {
		srv := simfs.New(simfs.Config{Local: true, Seed: seed})
		setUp(t, srv.Host("a"), newLocker())
		if err := fsys.MkdirAll(srv.Host("a"), "queue/in"); err != nil {
			t.Fatal(err)
		}
		if err := srv.Host("b").Mkdir(Dir(queue.In, ant), fsys.DirPerm); err != nil {
			t.Fatal(err)
		}
		if _, err := newNode(srv.Host("a"), newLocker(), "a").Put(context.Background(), post("one")); err != nil {
			t.Fatal(err)
		}
		srv.Host("a").Crash()
		srv.Host("b").Crash()
		srv.PowerCut()
		if got := outcome(t, srv.Host("c")); got["in one"] != 1 {
			t.Fatalf("seed %d: %v", seed, got)
		}
	}
}
