package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
)

// Questions for thousands of unknown addresses cost one listing a second, and each gets an
// answer that rests on a listing begun after it was asked.
func TestUnknownAddressesShareListings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.host("a")
		w.create(a)
		var listings atomic.Int64
		b := w.hostOn(fsys.Observed(w.view("b"), fsys.Hook{Before: func(op, name string) error {
			if name == root && op == "opendir" {
				listings.Add(1)
			}
			return nil
		}}), "b", 0)
		begin := time.Now()
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				for n := range 50 {
					<-time.After(listEvery / 10)
					address := mailaddr.Address(fmt.Sprintf("nobody-%d-%d@example.org", i, n))
					if _, err := b.Resolve(t.Context(), address); !errors.Is(err, lists.ErrNoList) {
						t.Errorf("%s: %v", address, err)
						return
					}
				}
			})
		}
		wg.Wait()
		if n, most := listings.Load(), int64(time.Since(begin)/listEvery)+2; n == 0 || n > most {
			t.Errorf("%d listings for 2,000 questions in %s, want at most %d", n, time.Since(begin), most)
		}
		for i := range 5 { // whatever was listed a moment ago, a list that is there is found
			id := lists.ID(fmt.Sprintf("new%d@example.org", i))
			if err := a.Create(t.Context(), id, By{}); err != nil {
				t.Fatal(err)
			}
			if got, err := b.Resolve(t.Context(), mailaddr.Address(id)); err != nil || got.List != id {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
	})
}
