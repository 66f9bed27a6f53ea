package nfstest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"qrunner/locking"
)

// TestWorkers runs NFSTEST_PROCS processes on this machine that take the lock again and
// again for NFSTEST_FOR, or until each has had it NFSTEST_GRANTS times.
func TestWorkers(t *testing.T) {
	p := open(t)
	var wg sync.WaitGroup
	for range number(t, envProcs, 4) {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestWorker$", "-test.count=1")
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				p.Errorf("worker: %v", err)
			}
		})
	}
	p.tell("ready."+p.host.Host, "")
	wg.Wait()
}

// TestWorker is one of them.
func TestWorker(t *testing.T) {
	p := open(t)
	l, log := p.locker("", true), p.openLog()
	ctx, stop := context.WithTimeout(t.Context(), duration(t, envFor, time.Minute))
	defer stop()
	grants, commits, waited := 0, 0, time.Duration(0)
	for want := number(t, envGrant, 1<<30); grants < want && ctx.Err() == nil; {
		start := time.Now()
		le, err := l.Lock(ctx, key, locking.Exclusive, locking.WithFencer(log))
		if err != nil {
			if ctx.Err() == nil {
				t.Logf("lock: %v", err) // trouble passes
				time.Sleep(base)
			}
			continue
		}
		grants++
		waited = max(waited, time.Since(start))
		for k := range 2 {
			if le.Context().Err() != nil || log.commit(le.Token(), k) != nil {
				break
			}
			commits++
		}
		if err := le.Unlock(context.WithoutCancel(ctx)); err != nil {
			t.Logf("unlock: %v", err)
		}
	}
	fmt.Printf("worker %s: grants=%d commits=%d longest-wait=%.1fs\n", log.id, grants, commits, waited.Seconds())
}

// TestHolder takes the lock, says so, and commits under it for NFSTEST_FOR or until it is
// fenced off, deaf to the end of its lease: only the log stops it.
func TestHolder(t *testing.T) {
	p := open(t)
	l, log := p.locker("", false), p.openLog()
	le, err := l.Lock(t.Context(), key, locking.Exclusive, locking.WithFencer(log))
	if err != nil {
		t.Fatal(err)
	}
	p.tell("holding", fmt.Sprint(le.Token()))
	end := time.Now().Add(duration(t, envFor, time.Minute))
	done, after := 0, 0
	for k := 0; time.Now().Before(end); k++ {
		over := le.Context().Err() != nil
		if err = log.commit(le.Token(), k); err != nil {
			break
		}
		done++
		if over {
			after++
		}
		time.Sleep(50 * time.Millisecond)
	}
	uerr := le.Unlock(context.Background())
	fmt.Printf("holder %s: token=%d commits=%d of them after its lease=%d; then %v; unlock: %v\n", log.id, le.Token(), done, after, err, uerr)
	p.tell("held", fmt.Sprintf("done %d, %v", done, strings.ReplaceAll(fmt.Sprint(uerr), "\n", " ")))
}
