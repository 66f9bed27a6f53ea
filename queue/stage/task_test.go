package stage

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// busy is a Locker under which every list is held by another.
type busy struct{ alone }

func (busy) TryLock(context.Context, locking.Key, locking.Mode, ...locking.Option) (locking.Lease, error) {
	return nil, locking.ErrHeld
}

func newTasks(t *testing.T, root fsys.FS, l locking.Locker, now func() time.Time) *Tasks {
	log := slog.New(slog.DiscardHandler)
	return &Tasks{
		Stage: Config{Host: "mx.example.com"}, Clock: now, Log: log,
		Store: store.Open(store.Config{FS: root, Locker: l, Host: "test", Clock: now, Log: log}),
		Spool: spool.New(spool.Config{FS: root, Host: "test", Clock: now, Log: log}),
	}
}

// Time passes over a list with a held post: one summary a day, then it expires.
func TestTasks(t *testing.T) {
	ctx := t.Context()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.Init(ctx, root); err != nil {
		t.Fatal(err)
	}
	now := liststest.Day()
	clock := func() time.Time { return now }
	tasks := newTasks(t, root, alone{}, clock)
	id := liststest.Ant
	if err := tasks.Store.Create(ctx, id, store.By{Actor: "test"},
		store.AddMember{Member: lists.Member{Address: "mona@example.org", Role: lists.RoleModerator}},
		store.SetSetting{Name: "max_days_to_hold", Value: "3"},
		store.HoldPost{Post: store.HeldPost{ID: "abcdefghij", From: "zed@example.net", Since: now, Token: strings.Repeat("x", 26)}}); err != nil {
		t.Fatal(err)
	}
	summaries := func() int {
		ids, err := tasks.Spool.IDs(ctx, queue.Virgin, id)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	newTasks(t, root, busy{}, clock).Round(ctx) // another holds the list: nothing is lost
	for _, step := range []struct {
		after           time.Duration
		summaries, held int
	}{{0, 1, 1}, {time.Hour, 1, 1}, {25 * time.Hour, 2, 1}, {73 * time.Hour, 2, 0}, {200 * time.Hour, 2, 0}} {
		now = liststest.Day().Add(step.after)
		tasks.Round(ctx)
		newTasks(t, root, alone{}, clock).Round(ctx) // another host, a moment later
		st, err := tasks.Store.Read(ctx, id)
		if err != nil || summaries() != step.summaries || len(st.Held()) != step.held {
			t.Errorf("after %v: %d summaries, %d held, %v", step.after, summaries(), len(st.Held()), err)
		}
	}
	ids, _ := tasks.Spool.IDs(ctx, queue.Virgin, id)
	e, err := tasks.Spool.Load(ctx, queue.Virgin, id, ids[0])
	if err != nil || !strings.Contains(string(e.Raw), "ant-confirm+abcdefghij."+strings.Repeat("x", 26)+"@lists.example.com") || !strings.Contains(string(e.Raw), ": a request waits") {
		t.Errorf("%v\n%s", err, e.Raw)
	}
}
