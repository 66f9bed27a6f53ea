package e2e

import (
	"context"
	"testing"
	"time"
)

// patience is how long a condition may take to come true. It only ends tests that
// hang: machines that run tests are often loaded.
const patience = 2 * time.Minute

// until waits for cond, looking again and again.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for: %s", patience, what)
		}
		<-tick.C
	}
}

// patient is a context that ends when patience does.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
