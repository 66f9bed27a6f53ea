package store

import (
	"iter"
	"sync"

	"github.com/google/btree"
)

// degree of the trees: nodes of up to 63 items.
const degree = 32

// set is an ordered set that is cheap to copy. A set that hangs on a State is only
// read and cloned, by any goroutine; one that hangs on a draft has one owner.
type set[T any] struct {
	less func(a, b T) bool
	mu   sync.Mutex // Clone changes the tree it copies
	tree *btree.BTreeG[T]
}

func newSet[T any](less func(a, b T) bool) *set[T] { return &set[T]{less: less} }

func (s *set[T]) clone() *set[T] {
	out := newSet(s.less)
	if s.tree != nil {
		s.mu.Lock()
		out.tree = s.tree.Clone()
		s.mu.Unlock()
	}
	return out
}

func (s *set[T]) get(key T) (T, bool) {
	if s.tree == nil {
		var zero T
		return zero, false
	}
	return s.tree.Get(key)
}

func (s *set[T]) put(item T) (old T, had bool) {
	if s.tree == nil {
		s.tree = btree.NewG(degree, s.less)
	}
	return s.tree.ReplaceOrInsert(item)
}

func (s *set[T]) del(key T) (old T, had bool) {
	if s.tree == nil {
		return old, false
	}
	return s.tree.Delete(key)
}

func (s *set[T]) len() int {
	if s.tree == nil {
		return 0
	}
	return s.tree.Len()
}

func (s *set[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		if s.tree != nil {
			s.tree.Ascend(yield)
		}
	}
}

// from yields what is not before key.
func (s *set[T]) from(key T) iter.Seq[T] {
	return func(yield func(T) bool) {
		if s.tree != nil {
			s.tree.AscendGreaterOrEqual(key, yield)
		}
	}
}
