package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"qrunner/locking/simfs"
)

// machine is a Registry of one simulated machine.
func machine(t *testing.T, h *simfs.Host, self Identity, proc Proc) *Registry {
	t.Helper()
	if proc == nil {
		proc = func(int) (uint64, error) { return self.StartTicks, nil }
	}
	r, err := New(Config{FS: h, Self: self, Proc: proc, Mono: h.Mono()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ident(boot string, pid int) Identity {
	return Identity{Host: "mx1", Boot: boot, PID: pid, PIDNS: "1", StartTicks: uint64(pid)}
}

func gone(int) (uint64, error) { return 0, ErrNoProcess }

func TestRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{})
		ctx := context.Background()
		a := machine(t, srv.Host("a"), ident("b1", 10), nil)
		reg, err := a.Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if id := reg.Identity(); !id.Registered || id.Host != "mx1" || id.Boot != "b1" {
			t.Errorf("identity %+v", id)
		}
		if id := machine(t, srv.Host("a"), ident("b1", 11), nil).Known(); !id.Registered || id.PID != 11 {
			t.Errorf("a command on the same machine: %+v", id)
		}
		if id := machine(t, srv.Host("b"), ident("b2", 11), nil).Known(); id.Registered {
			t.Errorf("a command on another machine of that name: %+v", id)
		}
		other := ident("b9", 77)
		other.Host = "mx2"
		b := machine(t, srv.Host("b"), other, nil)
		time.Sleep(10 * time.Minute)
		list, err := b.List(ctx)
		if err != nil || len(list) != 1 || list[0].Host != "mx1" || !list[0].Alive || list[0].PID != 10 || list[0].Age > 11*time.Second {
			t.Errorf("list: %+v, %v", list, err)
		}
		if err := reg.Close(ctx); err != nil {
			t.Error(err)
		}
		if ok, err := b.Alive(ctx, "mx1"); ok || err != nil {
			t.Errorf("alive after it has left: %v, %v", ok, err)
		}
		if left, _ := srv.Observer().ReadDir("hosts"); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// A machine that is alive keeps its name: another is refused, and told what to do.
func TestBug08_LiveDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{})
		ctx := context.Background()
		reg, err := machine(t, srv.Host("a"), ident("b1", 10), nil).Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = machine(t, srv.Host("b"), ident("b2", 10), nil).Register(ctx)
		if !errors.Is(err, ErrDouble) || !strings.Contains(err.Error(), "host name of its own") {
			t.Errorf("another machine: %v, want ErrDouble with the remedy", err)
		}
		if d := time.Since(start); d > time.Minute {
			t.Errorf("refused after %v", d)
		}
		// The same machine, whose process still runs: a few seconds to end, no more.
		start = time.Now()
		_, err = machine(t, srv.Host("a"), ident("b1", 11), func(int) (uint64, error) { return 10, nil }).Register(ctx)
		if !errors.Is(err, ErrDouble) || !strings.Contains(err.Error(), `host name "mx1" runs here (pid 10): stop it`) {
			t.Errorf("second process: %v, want ErrDouble with the process and the remedy", err)
		}
		if d := time.Since(start); d < time.Second || d > 6*time.Second {
			t.Errorf("refused after %v", d)
		}
		time.Sleep(time.Minute)
		if err := context.Cause(reg.Context()); err != nil {
			t.Errorf("the first one lost its name: %v", err)
		}
		_ = reg.Close(ctx)
	})
}

// A process that ends while its successor starts is waited for.
func TestPredecessorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{})
		ctx := context.Background()
		old, err := machine(t, srv.Host("a"), ident("b1", 10), nil).Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		ends := func(int) (uint64, error) {
			if time.Since(start) > 2*time.Second {
				return 0, ErrNoProcess
			}
			return 10, nil
		}
		reg, err := machine(t, srv.Host("a"), ident("b1", 11), ends).Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("took over after %v", d)
		}
		_, _ = old.Close(ctx), reg.Close(ctx)
	})
}

// A process that was killed and that nobody has waited for is gone.
func TestZombieIsGone(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Skip("no cat:", err)
	}
	defer func() { _ = cmd.Wait() }()
	if _, err := Process(cmd.Process.Pid); err != nil {
		t.Fatalf("while it runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Waits for its end without reaping it.
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Process(cmd.Process.Pid); !errors.Is(err, ErrNoProcess) {
		t.Errorf("a zombie: %v, want ErrNoProcess", err)
	}
}

func TestTakeOver(t *testing.T) {
	for name, c := range map[string]struct {
		next  Identity
		proc  Proc
		jump  time.Duration
		least time.Duration
		most  time.Duration
	}{
		"process gone":            {ident("b1", 11), gone, 0, 0, time.Second},
		"number reused":           {ident("b1", 11), func(int) (uint64, error) { return 4711, nil }, 0, 0, time.Second},
		"machine restarted":       {ident("b2", 10), nil, 0, 50 * time.Second, 80 * time.Second},
		"server's clock put back": {ident("b2", 10), nil, -time.Hour, 60 * time.Second, 80 * time.Second},
		"server's clock ahead":    {ident("b2", 10), nil, time.Hour, 30 * time.Second, 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := simfs.New(simfs.Config{})
				ctx := context.Background()
				a := srv.Host("a")
				if _, err := machine(t, a, ident("b1", 10), nil).Register(ctx); err != nil {
					t.Fatal(err)
				}
				a.Crash()
				srv.SetClock(c.jump)
				start := time.Now()
				reg, err := machine(t, srv.Host("a"), c.next, c.proc).Register(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(start); d < c.least || d > c.most {
					t.Errorf("took over after %v, want %v to %v", d, c.least, c.most)
				}
				if err := reg.Close(ctx); err != nil {
					t.Error(err)
				}
				if left, _ := srv.Observer().ReadDir("hosts"); len(left) != 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		})
	}
}

// A host that was away for so long that another took its name learns of it.
func TestLostName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := simfs.New(simfs.Config{})
		ctx := context.Background()
		a := srv.Host("a")
		old, err := machine(t, a, ident("b1", 10), nil).Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a.Partition()
		time.Sleep(2 * time.Minute)
		reg, err := machine(t, srv.Host("b"), ident("b2", 10), nil).Register(ctx)
		if err != nil {
			t.Fatal(err)
		}
		a.Heal()
		time.Sleep(30 * time.Second)
		if !errors.Is(context.Cause(old.Context()), ErrDouble) {
			t.Errorf("the old one: %v, want ErrDouble", context.Cause(old.Context()))
		}
		if err := old.Close(ctx); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if err := context.Cause(reg.Context()); err != nil {
			t.Errorf("the new one: %v", err)
		}
		_ = reg.Close(ctx)
	})
}

func TestRecord(t *testing.T) {
	want := ident("boot", 12)
	want.Nonce = "00ff"
	got, err := decode(encode(want))
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(ident("boot", 12)))
	f.Add([]byte(magic + "\nhost x\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := decode(data)
		if err != nil {
			return
		}
		if again, err := decode(encode(id)); err != nil || again != id {
			t.Errorf("%+v becomes %+v, %v", id, again, err)
		}
	})
}

// Bugs 7, 16, 25: only a process of this machine, boot and namespace can be known to
// be gone, and no number below 2 is asked about.
func TestBug07_16_25_Gone(t *testing.T) {
	self := ident("b1", 100)
	registered := self
	registered.Registered = true
	other := func(change func(*Identity)) Identity {
		id := ident("b1", 50)
		change(&id)
		return id
	}
	for name, c := range map[string]struct {
		self, other Identity
		proc        Proc
		want        bool
	}{
		"gone":                      {self, ident("b1", 50), gone, true},
		"there":                     {self, ident("b1", 50), func(int) (uint64, error) { return 50, nil }, false},
		"reused":                    {self, ident("b1", 50), func(int) (uint64, error) { return 51, nil }, true},
		"start hidden":              {self, ident("b1", 50), func(int) (uint64, error) { return 0, nil }, false},
		"not known":                 {self, ident("b1", 50), func(int) (uint64, error) { return 0, os.ErrPermission }, false},
		"other host":                {self, other(func(i *Identity) { i.Host = "mx2" }), gone, false},
		"other namespace":           {self, other(func(i *Identity) { i.PIDNS = "2" }), gone, false},
		"no namespace":              {self, other(func(i *Identity) { i.PIDNS = "" }), gone, false},
		"other boot":                {self, other(func(i *Identity) { i.Boot = "b0" }), gone, false},
		"other boot, we registered": {registered, other(func(i *Identity) { i.Boot = "b0" }), gone, true},
		"no boot, we registered":    {registered, other(func(i *Identity) { i.Boot = "" }), gone, false},
		"process 1":                 {self, other(func(i *Identity) { i.PID = 1 }), gone, false},
		"process -1":                {self, other(func(i *Identity) { i.PID = -1 }), gone, false},
	} {
		if got, _ := c.self.Gone(c.other, c.proc); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for _, pid := range []int{1, 0, -1, -4711} {
		if _, err := Process(pid); err == nil || errors.Is(err, ErrNoProcess) {
			t.Errorf("Process(%d): %v, want a refusal", pid, err)
		}
	}
}

func TestSelf(t *testing.T) {
	id, err := Self("mx1")
	if err != nil {
		t.Fatal(err)
	}
	if id.Host != "mx1" || id.Boot == "" || id.PID != os.Getpid() || id.StartTicks == 0 || len(id.Nonce) != 16 {
		t.Errorf("identity %+v", id)
	}
	if ticks, err := Process(os.Getpid()); err != nil || id.PID > 1 && ticks != id.StartTicks {
		t.Errorf("own process: %d, %v, want %d", ticks, err, id.StartTicks)
	}
	if again, _ := Self("mx1"); again.Nonce == id.Nonce {
		t.Error("two identities with one nonce")
	}
	for _, name := range []string{"a/b", ".a", strings.Repeat("a", 65), "a b", "a=b"} {
		if _, err := Self(name); err == nil {
			t.Errorf("host name %q: no error", name)
		}
	}
}

func TestParseStat(t *testing.T) {
	line := func(state, threads string) string {
		return "4711 (a ) (b) " + state + strings.Repeat(" 1", 16) + " " + threads + " 1 987654 1 1"
	}
	for in, want := range map[string]stat{
		line("S", "3"): {ticks: 987654},
		line("Z", "1"): {ticks: 987654, ended: true},
		line("X", "0"): {ticks: 987654, ended: true},
		line("Z", "2"): {ticks: 987654}, // another thread of it may be writing
	} {
		if got, err := parseStat(in); got != want || err != nil {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	for _, bad := range []string{"", "1 (x) S 1", line("S", "x"), fmt.Sprintf("1 (x) S%s x", strings.Repeat(" 1", 18))} {
		if got, err := parseStat(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, got)
		}
	}
}
