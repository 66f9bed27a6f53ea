package intake

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
	"qrunner/queue"
	"qrunner/queue/spool"
)

func realSpool(t testing.TB) *spool.Spool {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.Init(context.Background(), root); err != nil {
		t.Fatal(err)
	}
	return spool.New(spool.Config{FS: root, Host: "host", Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// TestRealSpool: whatever an MTA can put into an envelope comes back from the disk.
func TestRealSpool(t *testing.T) {
	disk := realSpool(t)
	in := newIntake(t, newShare(), Limits{})
	in.Spool = disk
	ctx := context.Background()
	for _, env := range []queue.Envelope{
		{Sender: "anne@example.org", Target: lists.Target{List: "ant@lists.example.com"}, Source: "lmtp 192.0.2.1", Trace: "t", UTF8: true, EightBit: true},
		{Sender: `"a \"b"@example.org`, Target: lists.Target{List: "ant@lists.example.com", Sub: lists.SubBounces, Extra: "дора=example.org"}, Source: "lmtp unix", Trace: "t"},
		{Target: lists.Target{List: lists.Site, Sub: lists.SubOwner}, Source: "pipe", Trace: "t"},
		{Target: lists.Target{List: "ant@lists.example.com", Sub: lists.SubConfirm, Extra: `"+<>=`}, Source: "smtp 2001:db8::1", Trace: "t"},
	} {
		for _, raw := range []string{"", "a\r\n", "\x00\xff\n.\r\nEND\n\r"} {
			want := &queue.Entry{Queue: queueOf(env.Target), List: env.Target.List, Envelope: env, Raw: []byte(raw)}
			if err := in.put(ctx, want); err != nil {
				t.Fatal(err)
			}
			got, err := disk.Load(ctx, want.Queue, want.List, want.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" && !(raw == "" && len(got.Raw) == 0 && cmp.Equal(want.Envelope, got.Envelope)) {
				t.Error(d)
			}
		}
	}
}
