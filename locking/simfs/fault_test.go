package simfs_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

func TestLostAnswer(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.must(r.a.Mkdir("e", 0o770))
		r.srv.Inject(simfs.Fault{Kind: simfs.LostAnswer})
		r.want(r.a.Link("x", "y"), syscall.EEXIST)
		r.want(r.a.Mkdir("d", 0o770), syscall.EEXIST)
		r.want(r.a.Rename("y", "z"), syscall.ENOENT)
		r.want(r.a.Remove("x"), syscall.ENOENT)
		r.want(r.a.Remove("e"), syscall.ENOENT)
		f, err := r.a.OpenFile("new", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o660)
		r.must(err) // an exclusive create carries a verifier
		r.must(f.Close())
		r.srv.Heal()
		if got := r.names(r.srv.Observer(), "."); !slices.Equal(got, []string{"d", "new", "z"}) {
			r.Fatalf("got %v", got)
		}
		r.srv.Inject(simfs.Fault{Kind: simfs.LostAnswer})
		r.must(fsys.LinkNew(r.a, "new", "x"))
	})
}

func TestRefuseAndDoneButError(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.srv.Inject(
			simfs.Fault{Host: "a", Op: "link", Name: "y*", Nth: 2, Kind: simfs.Refuse, Errno: syscall.ENOSPC},
			simfs.Fault{Op: "mkdir", Kind: simfs.DoneButError},
		)
		r.must(r.a.Link("x", "y1"))
		r.want(r.a.Link("x", "y2"), syscall.ENOSPC)
		r.must(r.a.Link("x", "y2"))
		r.want(r.b.Mkdir("d", 0o770), syscall.EIO)
		r.names(r.a, "d")
	})
}

func TestErrnosReachWrites(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		r.srv.Inject(
			simfs.Fault{Op: "write", Nth: 2, Kind: simfs.Refuse, Errno: syscall.EDQUOT},
			simfs.Fault{Op: "close", Kind: simfs.Refuse, Errno: syscall.ENOSPC},
		)
		f, err := r.a.OpenFile("x", os.O_CREATE|os.O_WRONLY, 0o660)
		r.must(err)
		_, err = f.Write([]byte("1"))
		r.must(err)
		_, err = f.Write([]byte("2"))
		r.want(err, syscall.EDQUOT)
		r.want(f.Close(), syscall.ENOSPC)
	})
}

func TestDuplicateComesLate(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.write(r.b, "y", "2")
		r.srv.Inject(simfs.Fault{Op: "remove", Nth: 1, Kind: simfs.Duplicate, After: 1})
		r.must(r.a.Remove("x"))
		r.must(r.b.Rename("y", "x")) // the successor
		if got := r.names(r.a, "."); len(got) != 0 {
			r.Fatalf("the late duplicate did not remove the successor: %v", got)
		}
	})
}

func TestStalls(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.srv.Inject(
			simfs.Fault{Op: "link", Name: "y", Kind: simfs.Stall, Delay: time.Minute},
			simfs.Fault{Op: "link", Name: "z", Kind: simfs.StallAnswer, Delay: time.Minute},
		)
		for _, name := range []string{"y", "z"} {
			start := time.Now()
			done := make(chan error)
			go func() { done <- r.a.Link("x", name) }()
			time.Sleep(time.Second)
			if there := slices.Contains(r.names(r.srv.Observer(), "."), name); there != (name == "z") {
				r.Fatalf("%s there: %v", name, there)
			}
			r.must(<-done)
			r.between(time.Since(start), time.Minute, time.Minute)
		}
	})
}

func TestChanceIsSeeded(t *testing.T) {
	run := func(seed uint64) (hits []int) {
		srv := simfs.New(simfs.Config{Seed: seed, Faults: []simfs.Fault{{Chance: 0.3, Kind: simfs.Refuse}}})
		for i := range 50 {
			if srv.Host("a").Touch(".") != nil {
				hits = append(hits, i)
			}
		}
		return hits
	}
	one, again, two := run(1), run(1), run(2)
	if !slices.Equal(one, again) || slices.Equal(one, two) || len(one) < 5 || len(one) > 30 {
		t.Fatalf("hits %v, %v, other seed %v", one, again, two)
	}
}

func TestPauseAndPartition(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		calls := func() (cached, fresh time.Duration) {
			start := time.Now()
			done := make(chan time.Duration, 1)
			go func() {
				_ = r.a.Touch("x")
				done <- time.Since(start)
			}()
			r.stat(r.a, "x")
			return time.Since(start), <-done
		}
		r.a.Pause()
		time.AfterFunc(time.Second, r.a.Resume)
		if cached, fresh := calls(); cached != time.Second || fresh != time.Second {
			r.Fatalf("paused: %v, %v", cached, fresh)
		}
		r.a.Partition()
		time.AfterFunc(time.Second, r.a.Heal)
		if cached, fresh := calls(); cached != 0 || fresh != time.Second {
			r.Fatalf("cut off: %v, %v", cached, fresh)
		}
		r.srv.Stop()
		time.AfterFunc(time.Second, func() { r.srv.Restart(true) })
		if cached, fresh := calls(); cached != 0 || fresh != time.Second {
			r.Fatalf("server down: %v, %v", cached, fresh)
		}
	})
}

func TestMuteAndRestart(t *testing.T) {
	test := func(cfg simfs.Config, keep, restart bool, want error) {
		t.Helper()
		bubble(t, cfg, func(r *rig) {
			r.write(r.a, "x", "1")
			r.a.Mute()
			done := make(chan error)
			go func() { done <- r.a.Link("x", "y") }()
			time.Sleep(time.Second)
			if len(r.names(r.srv.Observer(), ".")) != 2 {
				r.Fatal("the server did not do what it was asked")
			}
			if restart {
				r.srv.Restart(keep)
			}
			r.a.Heal()
			if err := <-done; !errors.Is(err, want) {
				r.Fatalf("got %v, want %v", err, want)
			}
		})
	}
	test(simfs.Config{}, false, false, nil)
	test(simfs.Config{}, true, true, nil)
	test(simfs.Config{}, false, true, syscall.EEXIST)
	test(simfs.Config{Version: simfs.V3, NoReplyCache: true}, true, false, syscall.EEXIST)
}

func TestHostCrash(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		f, err := r.a.OpenFile("x", os.O_CREATE|os.O_WRONLY, 0o660)
		r.must(err)
		_, err = f.Write([]byte("lost"))
		r.must(err)
		r.a.Pause()
		done := make(chan error)
		go func() { done <- r.a.Touch("x") }()
		time.Sleep(time.Second)
		r.a.Crash()
		for _, err := range []error{<-done, f.Sync(), f.Close(), r.a.Mkdir("d", 0o770)} {
			if !errors.Is(err, simfs.ErrCrashed) {
				r.Fatalf("after the crash: %v", err)
			}
		}
		if <-r.a.Context().Done(); r.a.Context().Err() == nil {
			r.Fatal("context lives")
		}
		r.reads(r.srv.Host("a"), "x", "") // booted again
	})
}

func TestCrashAtEachCall(t *testing.T) {
	story := func(h *simfs.Host) {
		if err := fsys.MkdirAll(h, "d/e"); err != nil {
			return
		}
		_ = fsys.WriteNew(h, "d/x", func(w io.Writer) error {
			_, err := w.Write([]byte("1"))
			return err
		})
		_ = h.Rename("d/x", "d/e/x")
	}
	srv := simfs.New(simfs.Config{})
	story(srv.Host("a"))
	total := srv.Calls()
	seen := map[string]bool{}
	for k := 1; k <= total; k++ {
		srv := simfs.New(simfs.Config{CrashAt: k})
		h := srv.Host("a")
		story(h)
		if h.Context().Err() == nil || srv.Calls() != k {
			t.Fatalf("crash at %d: %d calls", k, srv.Calls())
		}
		state := ""
		for _, n := range []string{"d", "d/e", "d/x", "d/e/x"} {
			if _, err := srv.Observer().Stat(n); err == nil {
				state += n + " "
			}
		}
		seen[state] = true
	}
	if len(seen) != 4 { // nothing, d, d/e, d/x; the last call's effect comes after
		t.Fatalf("%d calls, states %v", total, seen)
	}
}
