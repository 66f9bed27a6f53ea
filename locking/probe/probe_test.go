package probe

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"qrunner/locking/fsys"
)

func share(t *testing.T) fsys.FS {
	t.Helper()
	r, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func level(fs []Finding, check string) Level {
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.Check == check })
	if i < 0 {
		return ""
	}
	return fs[i].Level
}

func TestGoodShareLeavesNothing(t *testing.T) {
	f := share(t)
	for _, got := range Share(t.Context(), f, ".", time.Now) {
		if got.Level == Unfit || got.Text == "" {
			t.Errorf("%+v", got)
		}
	}
	if list, err := f.ReadDir("."); err != nil || len(list) != 0 {
		t.Errorf("left %v, %v", list, err)
	}
}

// TestEachFaultIsFound spoils one call after the other.
func TestEachFaultIsFound(t *testing.T) {
	for _, tc := range []struct {
		op, name string
		err      error
		check    string
	}{
		{"mkdir", "probe.", syscall.EACCES, "write"},
		{"open", "/a", syscall.ENOSPC, "create"},
		{"link", "/lock", syscall.EPERM, "link"},
		{"rename", "/lock", syscall.EIO, "rename over"},
		{"touch", "/a", syscall.EPERM, "server time"},
		{"syncdir", "", syscall.EINVAL, "fsync"},
	} {
		f := fsys.Observed(share(t), fsys.Hook{Before: func(op, name string) error {
			if op == tc.op && strings.Contains(name, tc.name) {
				return tc.err
			}
			return nil
		}})
		got := Share(t.Context(), f, ".", time.Now)
		if level(got, tc.check) != Unfit {
			t.Errorf("%s of %s answers %v: %+v", tc.op, tc.name, tc.err, got)
		}
		for _, one := range got {
			if one.Level == Unfit && one.Check == tc.check && one.Remedy == "" {
				t.Errorf("no remedy: %+v", one)
			}
		}
	}
}

// TestLinkThatReplaces: a file system whose link succeeds on a taken name.
func TestLinkThatReplaces(t *testing.T) {
	f := fsys.Observed(share(t), fsys.Hook{After: func(op, _ string, err error) error {
		if op == "link" && errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}})
	if got := Share(t.Context(), f, ".", time.Now); level(got, "link") != Unfit {
		t.Errorf("%+v", got)
	}
}

func TestClockOfAnotherHour(t *testing.T) {
	early := func() time.Time { return time.Now().Add(-time.Hour) }
	if got := Share(t.Context(), share(t), ".", early); level(got, "clock") != Warn {
		t.Errorf("%+v", got)
	}
}

func TestMountOptions(t *testing.T) {
	const info = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 22 0:40 / /srv/my\040lists rw,relatime shared:1 - nfs4 s:/export rw,vers=4.2,hard,lookupcache=none
41 22 0:41 / /srv/soft rw - nfs s:/export rw,vers=3,soft,noac
42 41 0:42 / /srv/soft/ro ro - nfs4 s:/export ro,vers=4.1,hard,lookupcache=none
`
	for dir, want := range map[string]map[string]Level{
		"/var/lib/qrunner":  {"mount": OK},
		"/srv/my lists/var": {"mount": OK, "soft": "", "lookupcache": "", "version": ""},
		"/srv/soft":         {"soft": Unfit, "noac": Warn, "lookupcache": Warn, "version": Warn},
		"/srv/soft/ro/x":    {"read-only": Unfit, "soft": ""},
	} {
		got := Mount(strings.NewReader(info), dir)
		for check, l := range want {
			if level(got, check) != l {
				t.Errorf("%s: %s is %q, want %q: %+v", dir, check, level(got, check), l, got)
			}
		}
	}
}
