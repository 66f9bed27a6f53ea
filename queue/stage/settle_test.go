package stage

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists/liststest"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// TestHeldPostWhoseNameIsHidden: the answer to the rename that published a held post is
// lost, within one tick of the folder's making; a v3 client then believes for ever that
// there is no such name.
func TestHeldPostWhoseNameIsHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{Version: simfs.V3})
		defer srv.Close()
		h := srv.Host("a")
		dir := "lists/" + string(liststest.Ant) + "/held"
		e := &queue.Entry{Queue: queue.In, List: liststest.Ant, ID: queue.NewID(time.Now(), 1, "test", 1), Raw: []byte(hello)}
		e.Sender, e.Target.List, e.Source, e.Trace, e.Received = "zed@example.net", liststest.Ant, "test", "t1", time.Now()
		data, err := spool.Encode(e)
		if err == nil {
			err = fsys.MkdirAll(h, dir)
		}
		if err == nil {
			err = fsys.WriteNew(h, "staged", func(w io.Writer) error { _, err := w.Write(data); return err })
		}
		if err != nil {
			t.Fatal(err)
		}
		srv.Inject(simfs.Fault{Op: "rename", Kind: simfs.LostAnswer})
		if err := h.Rename("staged", dir+"/x"); !fsys.Gone(err) {
			t.Fatal(err)
		}
		srv.Heal()
		time.Sleep(time.Hour)
		if _, err := fsys.ReadFile(h, dir+"/x", 1<<20); !fsys.Gone(err) {
			t.Fatalf("read: %v; the name is not hidden, and this test is worth nothing", err)
		}
		got, err := LoadHeld(t.Context(), h, liststest.Ant, store.HeldPost{ID: "x"})
		if err != nil || string(got.Raw) != hello {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := LoadHeld(t.Context(), h, liststest.Ant, store.HeldPost{ID: "y"}); !Unreadable(err) {
			t.Errorf("a post that is gone: %v", err)
		}
	})
}
