package simfs_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// rig is two hosts on one server.
type rig struct {
	*testing.T
	srv  *simfs.Server
	a, b *simfs.Host
}

func bubble(t *testing.T, cfg simfs.Config, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(cfg)
		defer srv.Close()
		test(&rig{t, srv, srv.Host("a"), srv.Host("b")})
	})
}

// both runs a test on both versions of the protocol.
func both(t *testing.T, cfg simfs.Config, test func(r *rig)) {
	t.Helper()
	for name, v := range map[string]simfs.Version{"v3": simfs.V3, "v4.2": simfs.V42} {
		cfg.Version = v
		t.Run(name, func(t *testing.T) { bubble(t, cfg, test) })
	}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) want(err error, want syscall.Errno) {
	r.Helper()
	if !errors.Is(err, want) {
		r.Fatalf("got %v, want %v", err, want)
	}
}

// write makes or replaces a file, closed but not synced.
func (r *rig) write(h fsys.FS, name, text string) {
	r.Helper()
	f, err := h.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o660)
	r.must(err)
	_, err = f.Write([]byte(text))
	r.must(err)
	r.must(f.Close())
}

func (r *rig) open(h fsys.FS, name string) fsys.File {
	r.Helper()
	f, err := h.OpenFile(name, os.O_RDWR, 0)
	r.must(err)
	return f
}

func (r *rig) read(h fsys.FS, name string) string {
	r.Helper()
	data, err := fsys.ReadFile(h, name, 1<<20)
	r.must(err)
	return string(data)
}

func (r *rig) reads(h fsys.FS, name, want string) {
	r.Helper()
	if got := r.read(h, name); got != want {
		r.Fatalf("%s on %s: read %q, want %q", name, h.(*simfs.Host).Name(), got, want)
	}
}

func (r *rig) names(h fsys.FS, dir string) (list []string) {
	r.Helper()
	entries, err := h.ReadDir(dir)
	r.must(err)
	for _, e := range entries {
		list = append(list, e.Name)
	}
	return list
}

func (r *rig) stat(h fsys.FS, name string) fsys.Info {
	r.Helper()
	info, err := h.Stat(name)
	r.must(err)
	return info
}

// until returns how long it takes for ok to come true, at most two minutes.
func (r *rig) until(ok func() bool) time.Duration {
	r.Helper()
	start := time.Now()
	for !ok() {
		if time.Since(start) > 2*time.Minute {
			r.Fatal("it never came true")
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(start)
}

func (r *rig) between(d, low, high time.Duration) {
	r.Helper()
	if d < low || d > high {
		r.Fatalf("took %v, want %v to %v", d, low, high)
	}
}
