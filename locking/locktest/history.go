package locktest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"qrunner/locking"
)

// History records what clients did with the exclusive locks of one space, and checks
// afterwards that there is an order of all of it in which never two held one.
type History struct {
	start time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
	next  int
}

// NewHistory begins a record.
func NewHistory() *History { return &History{start: time.Now()} }

// op is an input: a grant or a release of one lease.
type op struct {
	key     locking.Key
	lease   int
	release bool
}

// Wrap returns l with every grant and release recorded for a client, which must be
// one goroutine. A lease that is never given back counts as held to the end, so
// leases that end by a loss must be told with Lost.
func (h *History) Wrap(l locking.Locker, client int) locking.Locker {
	return &recorded{l, h, client}
}

type recorded struct {
	locking.Locker
	h      *History
	client int
}

type recordedLease struct {
	locking.Lease
	r  *recorded
	id int
}

func (h *History) add(client int, call time.Time, o op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: o,
		Call: int64(call.Sub(h.start)), Return: int64(time.Since(h.start)),
	})
}

func (h *History) id() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	return h.next
}

// Lock implements locking.Locker.
func (r *recorded) Lock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	call := time.Now()
	return r.grant(call, func() (locking.Lease, error) { return r.Locker.Lock(ctx, key, m, opts...) })
}

// TryLock implements locking.Locker.
func (r *recorded) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	call := time.Now()
	return r.grant(call, func() (locking.Lease, error) { return r.Locker.TryLock(ctx, key, m, opts...) })
}

func (r *recorded) grant(call time.Time, f func() (locking.Lease, error)) (locking.Lease, error) {
	le, err := f()
	if err != nil {
		return nil, err
	}
	out := &recordedLease{le, r, r.h.id()}
	r.h.add(r.client, call, op{key: le.Key(), lease: out.id})
	return out, nil
}

// Unlock implements locking.Lease.
func (le *recordedLease) Unlock(ctx context.Context) error {
	call := time.Now()
	err := le.Lease.Unlock(ctx)
	le.r.h.add(le.r.client, call, op{key: le.Key(), lease: le.id, release: true})
	return err
}

// Check fails the test if the history is not that of locks.
func (h *History) Check(t testing.TB) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	res, _ := porcupine.CheckOperationsVerbose(lockModel(), h.ops, 0)
	if res != porcupine.Ok {
		t.Errorf("history of %d grants and releases is not that of a lock: %v", len(h.ops), h.ops)
	}
}

// lockModel is a lock per key: free (0), or held by a lease.
func lockModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[locking.Key][]porcupine.Operation{}
			var keys []locking.Key
			for _, o := range history {
				k := o.Input.(op).key
				if parts[k] == nil {
					keys = append(keys, k)
				}
				parts[k] = append(parts[k], o)
			}
			var out [][]porcupine.Operation
			for _, k := range keys {
				out = append(out, parts[k])
			}
			return out
		},
		Init: func() any { return 0 },
		Step: func(state, input, _ any) (bool, any) {
			held, in := state.(int), input.(op)
			if in.release {
				return held == in.lease, 0
			}
			return held == 0, in.lease
		},
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
	}
}
