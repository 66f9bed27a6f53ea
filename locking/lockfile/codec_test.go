package lockfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
)

func aRecord() record {
	return record{
		Owner: hosts.Identity{Host: "mx1.example.org", Boot: "4b2e-99", PID: 4711, PIDNS: "4026531836", StartTicks: 99},
		Nonce: strings.Repeat("0a", 16), Claim: "claim.mx1.example.org.4711.00112233445566ff",
		Lifetime: 90 * time.Second, Since: time.UnixMilli(1_700_000_000_123), Note: "pipeline, slice 3",
	}
}

func TestRecordRoundTrip(t *testing.T) {
	want := aRecord()
	data := want.encode()
	if len(data) > 512 {
		t.Errorf("a record of %d octets", len(data))
	}
	got, err := decode(data)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	long := aRecord()
	long.Note = strings.Repeat("ü\nß", 500)
	if got, err = decode(long.encode()); err != nil || len(got.Note) > maxNote || strings.Contains(got.Note, "\n") {
		t.Errorf("long note: %q, %v", got.Note, err)
	}
}

// Bug 24: no part of a record passes for a whole one.
func TestBug24_NoPrefixIsARecord(t *testing.T) {
	data := aRecord().encode()
	for n := range data {
		if _, err := decode(data[:n]); err == nil {
			t.Errorf("the first %d octets pass for a record", n)
		}
		if _, err := decode(data[:n]); err == errForeign {
			t.Errorf("the first %d octets pass for something foreign", n)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(aRecord().encode())
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Add(make([]byte, 300))
	f.Add([]byte("root:x:0:0::/root:/bin/sh\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(r.encode())
		if err != nil {
			t.Fatalf("a record that was read cannot be read again: %v", err)
		}
		again.Note, r.Note = "", ""
		if d := cmp.Diff(r, again); d != "" {
			t.Errorf("read, written and read again:\n%s", d)
		}
	})
}

// Bug 6: one codec for names, both ways; bug 50: 64 random bits in each.
func TestBug06_50_Names(t *testing.T) {
	l, err := New(Config{FS: blind{}, Host: hosts.Identity{Host: "a.b-c", PID: 12}, Lifetime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, key := range []locking.Key{"list@example.org", "out/e/0-1000", "out/e/a=b.c", locking.Key("x/" + strings.Repeat("y", 128))} {
		p, err := l.paths(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{kindClaim, kindSecond, kindTk} {
			name := l.private(p, kind)
			base := name[strings.LastIndexByte(name, '/')+1:]
			f, ok := parseName(base)
			if !ok || f.kind != kind || f.host != "a.b-c" || f.pid != 12 || len(f.nonce) != 16 || f.suffix != p.suffix {
				t.Errorf("%s reads as %+v, %v", base, f, ok)
			}
			if seen[name] || len(base) > 255 {
				t.Errorf("name %s twice or too long", base)
			}
			seen[name] = true
		}
		base := strings.TrimPrefix(p.ticket(strings.Repeat("f", 32), 3), p.dir+"/")
		if f, ok := parseName(base); !ok || f.kind != kindTicket || f.k != 3 || f.suffix != p.suffix {
			t.Errorf("%s reads as %+v, %v", base, f, ok)
		}
	}
	for _, key := range []locking.Key{"a/lock/b", "a/lock=x/b", "a/claim.h.1.0011223344556677/b"} {
		if _, err := l.paths(key); err == nil {
			t.Errorf("key %q: no error, though its folder would stand where a lock file may", key)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"lock", "lock=0-10", "claim.h.1.0011223344556677", "tk.a.b.2.0011223344556677=x=y",
		"ticket.00112233445566778899aabbccddeeff.0", ".nfs000001", "claim.", "ticket.x.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parseName(s)
		if !ok {
			return
		}
		if strings.HasPrefix(s, ".nfs") {
			t.Errorf("%q passes for ours", s)
		}
		p := paths{dir: "d", suffix: n.suffix}
		switch n.kind {
		case kindLock:
			if p.lockBase() != s {
				t.Errorf("%q reads as the lock %q", s, p.lockBase())
			}
		case kindTicket:
			if got := p.ticket(n.nonce, n.k); got != "d/"+s {
				t.Errorf("%q reads as the ticket %q", s, got)
			}
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{FS: blind{}, Host: hosts.Identity{Host: "h", PID: 1}, Lifetime: time.Minute}
	if _, err := New(good); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
	for want, spoil := range map[string]func(*Config){
		"no file system":      func(c *Config) { c.FS = nil },
		"lifetime 0s":         func(c *Config) { c.Lifetime = 0 },
		"lifetime -1s":        func(c *Config) { c.Lifetime = -time.Second },
		"lifetime 48h0m0s":    func(c *Config) { c.Lifetime = 48 * time.Hour },
		"slop -1s":            func(c *Config) { c.Slop = -time.Second },
		"base sleep -1s":      func(c *Config) { c.Base = -time.Second },
		"examine every -1":    func(c *Config) { c.ExamineEvery = -1 },
		`host name "a/b"`:     func(c *Config) { c.Host.Host = "a/b" },
		"process number 0":    func(c *Config) { c.Host.PID = 0 },
		"make local lock fol": func(c *Config) { c.LocalDir = "/dev/null/x" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

var _ fsys.FS = blind{}
