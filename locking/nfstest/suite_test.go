package nfstest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"qrunner/locking"
	"qrunner/locking/locktest"
)

// TestConformance runs the suite of all Lockers on the mount, in real time. Its hosts are
// Lockers of this machine; what several machines do is for the other tests.
func TestConformance(t *testing.T) {
	open(t)
	locktest.Run(t, locktest.Setup{
		New: func(t *testing.T) locktest.Open {
			t.Setenv(envShare, fmt.Sprintf("%s/suite.%d", os.Getenv(envShare), rand.Uint64()))
			p := open(t)
			var mu sync.Mutex
			made := map[int]locking.Locker{}
			return func(n int) locking.Locker {
				mu.Lock()
				defer mu.Unlock()
				if made[n] == nil {
					made[n] = p.locker(fmt.Sprintf("h%d", n), false)
				}
				return made[n]
			}
		},
		Lifetime: life, Takeover: 10 * life, Poll: base,
	})
}
