package fanout

import (
	"testing"
	"time"

	"qrunner/locking/simfs"
)

// TestLostAnswersOfJournalLinks: every link of a journal is answered EEXIST although it
// was made, within a tick of the server's clock, so that a listing does not show it. Its
// owner must not take it for a stranger's and make more names for it: three journals
// without progress are poison.
func TestLostAnswersOfJournalLinks(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(w *world) {
		w.srv.Inject(simfs.Fault{Op: "dirlink", Name: "journal.*", Kind: simfs.LostAnswer})
		id := w.send(w.post(10))
		defer w.host("a")()
		w.settled(time.Minute)
		w.once(10, id)
		if n := len(w.ls("shunt")); n != 0 {
			t.Errorf("%d files in shunt", n)
		}
	})
}
