package txt

import (
	"context"
	"sync"
	"time"

	"qrunner/locking/clock"
)

// How long answers are kept: the standard library's resolver does not tell the TTL.
// An hour is the TTL that most mail domains give their policies and keys.
const (
	keepFound   = time.Hour
	keepAbsent  = 10 * time.Minute
	keepTrouble = 30 * time.Second // a post burst must not wait for the same timeout each
)

// Cache is a Resolver that remembers answers, absent names and failures, and bounds
// the time that a lookup may take.
type Cache struct {
	source  Resolver
	now     clock.Clock
	size    int
	timeout time.Duration

	mu      sync.Mutex // never held while the source is asked
	entries map[string]entry
}

type entry struct {
	records []string
	err     error
	until   time.Time
}

// NewCache makes a Cache of at most size names before source. A lookup that takes
// longer than timeout fails.
func NewCache(source Resolver, now clock.Clock, size int, timeout time.Duration) *Cache {
	return &Cache{source: source, now: now, size: size, timeout: timeout, entries: map[string]entry{}}
}

// LookupTXT answers from memory or asks. What ends with the caller's own context is
// not remembered.
func (c *Cache) LookupTXT(ctx context.Context, name string) ([]string, error) {
	if e, ok := c.get(name); ok {
		return e.records, e.err
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	records, err := c.source.LookupTXT(bounded, name)
	if ctx.Err() != nil {
		return records, err
	}
	keep := keepFound
	switch {
	case err != nil && absent(err):
		keep = keepAbsent
	case err != nil:
		keep = keepTrouble
	}
	c.put(name, entry{records: records, err: err, until: c.now().Add(keep)})
	return records, err
}

func (c *Cache) get(name string) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[name]
	return e, ok && c.now().Before(e.until)
}

// put remembers an answer; of a full cache what has expired goes, else any entry.
func (c *Cache) put(name string, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.size {
		now := c.now()
		for k, old := range c.entries {
			if !now.Before(old.until) {
				delete(c.entries, k)
			}
		}
	}
	for k := range c.entries {
		if len(c.entries) < c.size {
			break
		}
		delete(c.entries, k)
	}
	c.entries[name] = e
}
