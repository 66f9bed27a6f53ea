package nfstest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// TestCost prints what a grant and a release cost on the mount with nobody else there:
// bare, with the log's fence (a file synced and linked), and against a file that is
// made, linked, unlinked and removed.
func TestCost(t *testing.T) {
	p := open(t)
	n := number(t, envGrant, 100)
	calls := 0
	l := p.lockerOn(fsys.Observed(p.share, fsys.Hook{Before: func(string, string) error { calls++; return nil }}), "", false)
	per := func(what string, f func(i int) error) {
		calls = 0
		start := time.Now()
		for i := range n {
			if err := f(i); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Printf("cost: %s: %.1f ms", what, time.Since(start).Seconds()*1e3/float64(n))
		if calls > 0 {
			fmt.Printf(", of the lock %.1f calls", float64(calls)/float64(n))
		}
		fmt.Println()
	}
	cycle := func(opts ...locking.Option) error {
		le, err := l.Lock(t.Context(), key, locking.Exclusive, opts...)
		if err != nil {
			return err
		}
		return le.Unlock(t.Context())
	}
	log := p.openLog()
	per("grant and release", func(int) error { return cycle() })
	per("grant and release with a fence", func(int) error { return cycle(locking.WithFencer(log)) })
	per("fence", func(int) error { _, err := log.Fence(t.Context()); return err })
	per("make, link, unlink and remove a file", func(i int) error {
		name := fmt.Sprintf("cost.%d", i)
		f, err := p.share.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fsys.FilePerm)
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = p.share.Link(name, name+".l")
		}
		if err == nil {
			err = p.share.Remove(name + ".l")
		}
		if err == nil {
			err = p.share.Remove(name)
		}
		return err
	})
}
