package fanout

import (
	"testing"

	"qrunner/lists/message"
	"qrunner/locking/simfs"
)

// TestNoticesAreNotTakenForOne: two troubles with the same post are two notices, or the
// second is dropped as a repeat somewhere.
func TestNoticesAreNotTakenForOne(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		h := w.srv.Host("a")
		s := New(w.config(h))
		u := unit{ant, "e"}
		s.alert(t.Context(), u, "down", "connection refused")
		s.alert(t.Context(), u, "530", "authentication required")
		s.alert(t.Context(), u, "down", "connection refused") // the same episode
		other := New(w.config(w.srv.Host("b")))
		other.alert(t.Context(), u, "down", "connection refused") // a second host tells nobody
		seen, err := Troubles(h, s.time.now())
		if err != nil || len(seen) != 3 {
			t.Errorf("troubles %+v, %v", seen, err)
		}
		s.recovered(t.Context(), "down")
		if seen, err := Troubles(h, s.time.now()); err != nil || len(seen) != 2 {
			t.Errorf("afterwards %+v, %v", seen, err)
		}
		ids := map[string]bool{}
		for _, e := range w.notices {
			ids[message.Parse(e.Raw).Get("Message-ID")] = true
		}
		if len(w.notices) != 2 || len(ids) != 2 {
			t.Errorf("%d notices under %d names", len(w.notices), len(ids))
		}
	})
}
