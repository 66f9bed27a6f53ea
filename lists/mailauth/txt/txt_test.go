package txt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// counting counts what it is asked and answers with err if there is one.
type counting struct {
	Map
	asked int
	err   error
	hang  bool
}

func (c *counting) LookupTXT(ctx context.Context, name string) ([]string, error) {
	c.asked++
	if c.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.Map.LookupTXT(ctx, name)
}

func TestLookup(t *testing.T) {
	r := &counting{Map: Map{"a": {"x"}}}
	if v, err := Lookup(t.Context(), r, "a"); err != nil || len(v) != 1 {
		t.Errorf("found: %v, %v", v, err)
	}
	if v, err := Lookup(t.Context(), r, "b"); err != nil || v != nil {
		t.Errorf("absent: %v, %v", v, err)
	}
	r.err = errors.New("SERVFAIL")
	if _, err := Lookup(t.Context(), r, "a"); !errors.Is(err, ErrTemporary) {
		t.Errorf("trouble: %v", err)
	}
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &counting{Map: Map{"a": {"x"}}}
		c := NewCache(r, time.Now, 10, 5*time.Second)
		ask := func(name string, asked int, wantErr bool) {
			t.Helper()
			_, err := c.LookupTXT(t.Context(), name)
			if r.asked != asked || (err != nil) != wantErr {
				t.Errorf("%s: asked %d times, want %d; %v", name, r.asked, asked, err)
			}
		}
		ask("a", 1, false)
		ask("a", 1, false)
		ask("b", 2, true)
		ask("b", 2, true)
		time.Sleep(keepAbsent)
		ask("b", 3, true)
		ask("a", 3, false)
		time.Sleep(keepFound)
		ask("a", 4, false)
		r.hang = true
		start := time.Now()
		ask("slow", 5, true)
		if d := time.Since(start); d != 5*time.Second {
			t.Errorf("waited %v", d)
		}
		ask("slow", 5, true)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.LookupTXT(ended, "c"); err == nil {
			t.Error("answer for a caller that has gone")
		}
		r.hang = false
		c.LookupTXT(t.Context(), "c")
		if r.asked != 7 {
			t.Error("the end of a caller was remembered")
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	r := &counting{}
	c := NewCache(r, time.Now, 16, time.Second)
	for i := range 1000 {
		c.LookupTXT(t.Context(), fmt.Sprint(i))
	}
	if len(c.entries) != 16 {
		t.Errorf("%d entries", len(c.entries))
	}
}
