package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
	"qrunner/queue/queuetest"
)

type demoCmd struct {
	Keep bool `help:"Leave the daemon running and say how to post to it."`
}

// demoLimit is how long the demo may take before it gives up.
const demoLimit = 50 * time.Second

// demoList is the demo's list; its members but one take part in nothing else.
const demoList = lists.ID("ant@lists.example.com")

// demoMembers are on the list's roster. Cris wants no copies of her own posts.
var demoMembers = []string{"anne@example.org", "bart@example.org", "cris@example.com", "dora@example.org", "emil+tag@example.org"}

// Run shows the main job: the real daemon on a temporary share, posts through its
// LMTP door, and a built-in sink in the place of the smarthost.
func (c *demoCmd) Run(ctx context.Context, a *app) (err error) {
	dir, err := os.MkdirTemp("", "qrunner-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil {
			err = rerr
		}
	}()
	limited, cancel := context.WithTimeoutCause(ctx, demoLimit, fmt.Errorf("the demo took longer than %v", demoLimit))
	defer cancel()
	d, err := newDemo(limited, dir, a.std.out)
	if err != nil {
		return err
	}
	run, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- d.daemon.run(run) }()
	err = d.show(limited)
	if err == nil && c.Keep {
		fmt.Fprintf(a.std.out, "\nRunning on %s until Ctrl-C. Post with:\n  swaks --protocol LMTP --server %s --from anne@example.org --to %s\n"+
			"  qrunner --config %s held ls %s\n", dir, d.lmtp, demoList, filepath.Join(dir, "qrunner.yaml"), demoList)
		<-ctx.Done()
	}
	stop()
	if rerr := <-ended; err == nil {
		err = rerr
	}
	d.sink.Close()
	if cerr := d.daemon.close(ctx); err == nil {
		err = cerr
	}
	return err
}

// demo is the daemon with what stands around it.
type demo struct {
	out    io.Writer
	sink   *queuetest.Sink
	daemon *daemon
	doors  chan string
	lmtp   string
	told   map[string]int // words of the trace seen, by Message-ID
}

func newDemo(ctx context.Context, dir string, out io.Writer) (*demo, error) {
	sink, err := queuetest.NewSink(queuetest.SinkConfig{})
	if err != nil {
		return nil, fmt.Errorf("start the sink: %w", err)
	}
	addr, err := sink.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the sink: %w", err)
	}
	conf := config.Default()
	conf.Var = filepath.Join(dir, "share")
	conf.LMTP.Listen = []string{"127.0.0.1:0"}
	conf.Smarthost.Address, conf.Smarthost.TLS = addr, "none"
	conf.Lock.LocalDir = filepath.Join(dir, "local")
	conf.Run.Poll = 100 * time.Millisecond
	conf.Site.Owner = "postmaster@example.com"
	conf.Log.Level = "warn"
	h, err := demoShare(ctx, dir, conf)
	if err != nil {
		return nil, err
	}
	dm, err := newDaemon(h)
	if err != nil {
		return nil, err
	}
	d := &demo{out: out, sink: sink, daemon: dm, doors: make(chan string, 1)}
	dm.listening = func(_, addr string) { d.doors <- addr }
	return d, nil
}

// demoShare makes the share, its configuration file and the list.
func demoShare(ctx context.Context, dir string, conf config.Config) (*house, error) {
	if err := os.Mkdir(conf.Var, 0o770); err != nil {
		return nil, fmt.Errorf("make the demo's share: %w", err)
	}
	var text strings.Builder
	if err := config.Print(&text, conf); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "qrunner.yaml"), []byte(text.String()), 0o600); err != nil {
		return nil, fmt.Errorf("write the demo's configuration: %w", err)
	}
	root, err := fsys.Open(conf.Var)
	if err != nil {
		return nil, err
	}
	_, err = site.Init(ctx, root)
	if cerr := root.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("make the demo's share: %w", err)
	}
	h, err := openHouse(ctx, conf, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), server)
	if err != nil {
		return nil, err
	}
	if err := h.store.Create(ctx, lists.Site, by("demo"), siteSettings()...); err != nil {
		return nil, fmt.Errorf("make the site's own list: %w", err)
	}
	changes := []store.Change{
		store.SetSetting{Name: "subject_prefix", Value: "[Ant] "},
		store.SetSetting{Name: "footer", Value: "-- \nLeave: mail to $unsubscribe_address"},
	}
	for _, addr := range demoMembers {
		m, err := newMember(addr, "", lists.RoleMember)
		if err != nil {
			return nil, err
		}
		changes = append(changes, store.AddMember{Member: m})
	}
	if err := h.store.Create(ctx, demoList, by("demo"), changes...); err != nil {
		return nil, fmt.Errorf("make the demo's list: %w", err)
	}
	return h, nil
}
