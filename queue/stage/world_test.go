package stage

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
	"qrunner/queue"
)

// alone is a Locker for a test that is the only host.
type alone struct{}

func (alone) Lock(ctx context.Context, key locking.Key, _ locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	var token locking.Token
	var err error
	if f := locking.Apply(opts).Fencer; f != nil {
		token, err = f.Fence(ctx)
	}
	return lease{key, token}, err
}

func (a alone) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return a.Lock(ctx, key, m, opts...)
}

type lease struct {
	key   locking.Key
	token locking.Token
}

func (l lease) Key() locking.Key             { return l.key }
func (l lease) Token() locking.Token         { return l.token }
func (l lease) Context() context.Context     { return context.Background() }
func (l lease) Verify(context.Context) error { return nil }
func (l lease) Unlock(context.Context) error { return nil }

// world is one list and the stages.
type world struct {
	t      testing.TB
	fs     fsys.FS
	id     lists.ID
	state  *store.State
	conf   Config
	stages map[queue.Name]queue.Processor
	n      int
}

// newWorld makes a list with the usual people and settings ("name", "value", ...).
func newWorld(t testing.TB, id lists.ID, settings ...string) *world {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := site.Init(ctx, root); err != nil {
		t.Fatal(err)
	}
	s := store.Open(store.Config{FS: root, Locker: alone{}, Host: "test", Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	var cs []store.Change
	for _, m := range liststest.Members() {
		cs = append(cs, store.AddMember{Member: m})
	}
	for i := 0; i+1 < len(settings); i += 2 {
		cs = append(cs, store.SetSetting{Name: settings[i], Value: settings[i+1]})
	}
	if err := s.Create(ctx, id, store.By{Actor: "test"}, cs...); err != nil {
		t.Fatal(err)
	}
	state, err := s.Read(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, fs: root, id: id, state: state, conf: Config{Host: "mx.example.com", SiteOwner: "site@example.com", FS: root}}
	w.stages = Table(w.conf)
	return w
}

// entry is a message to the list, as intake would put it.
func (w *world) entry(sender mailaddr.Address, raw string) *queue.Entry {
	w.n++
	e := &queue.Entry{
		ID: queue.NewID(liststest.Day(), uint64(w.n), "test", uint64(w.n)), Queue: queue.In, List: w.id, Raw: []byte(raw),
		Envelope: queue.Envelope{Sender: sender, Target: lists.Target{List: w.id}, Received: liststest.Day(), Source: "lmtp 192.0.2.1", Trace: "trace1"},
	}
	return e
}

// process runs an entry through its stage and carries the changes out.
func (w *world) process(e *queue.Entry) *queue.Outcome {
	w.t.Helper()
	o, err := w.stages[e.Queue].Process(context.Background(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
	if err != nil {
		w.t.Fatal(err)
	}
	w.commit(o)
	return o
}

// commit carries an outcome's changes and files out.
func (w *world) commit(o *queue.Outcome) {
	w.t.Helper()
	var err error
	if w.state, err = w.state.With(liststest.Day(), o.Changes...); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range o.Children {
		if c.File == nil {
			continue
		}
		name := filepath.Join(w.fs.(*fsys.Root).Path(), "lists", string(w.id), c.File.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(name, c.File.Data, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// due is what time has brought about; nil: nothing.
func (w *world) due(c Config, at time.Time) *queue.Outcome {
	w.t.Helper()
	o, err := c.Due(context.Background(), w.state, at)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// sent is the fan-out among the children; nil if there is none.
func sent(o *queue.Outcome) *queue.Fanout {
	for _, c := range o.Children {
		if c.Fanout != nil {
			return c.Fanout
		}
	}
	return nil
}

func child(o *queue.Outcome, q queue.Name) *queue.Entry {
	for _, c := range o.Children {
		if c.Entry != nil && c.Entry.Queue == q {
			return c.Entry
		}
	}
	return nil
}

func to(f *queue.Fanout) string {
	var out []string
	for _, r := range f.Recipients {
		out = append(out, r.Address.Local())
	}
	return strings.Join(out, " ")
}

// repro reads a reproducer; .eml with CRLF, as it would be sent.
func repro(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../shared/repro", name))
	if os.IsNotExist(err) {
		t.Skipf("no reproducer %s", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "015") {
		return string(raw)
	}
	return strings.ReplaceAll(string(raw), "\n", "\r\n")
}

func get(raw []byte, name string) string { return message.Parse(raw).Get(name) }
