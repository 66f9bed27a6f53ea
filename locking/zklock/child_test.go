package zklock

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"qrunner/locking"
	"qrunner/locking/hosts"
	"qrunner/locking/zklock/zkreal"
)

// childEnv makes the test binary one of the children below.
const childEnv = "ZKLOCK_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch args := os.Args[1:]; os.Getenv(childEnv) {
	case "":
		flag.Parse()
		_ = flag.Set("test.parallel", "16") // they wait, most of the time
		code := m.Run()
		if left := goleak.Find(); code == 0 && left != nil {
			fmt.Println("goroutines are left:", left)
			code = 1
		}
		os.Exit(code)
	case "count":
		err = childCount(args)
	case "hold":
		err = childHold(args[0], args[1], args[2])
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// child starts one of our children.
func child(ctx context.Context, t testing.TB, kind string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+kind)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = t.Output()
	return cmd
}

func childOpen(servers, root string, session time.Duration) (*Locker, error) {
	return Open(context.Background(), Config{
		Servers: strings.Split(servers, ","), Root: root, Naming: NamingKazoo, SessionTimeout: session,
		ConnectTimeout: time.Minute, Host: hosts.Identity{Host: "child", PID: os.Getpid()},
	})
}

// childCount does what kazoo_client.py does.
func childCount(args []string) error {
	servers, path, kind, rounds, folder, me := args[0], args[1], args[2], args[3], args[4], args[5]
	reads := kind == "ReadLock"
	l, err := childOpen(servers, filepath.Dir(path), zkreal.LongSession)
	if err != nil {
		return err
	}
	defer l.Close()
	mode, mark := locking.Exclusive, "w."+me
	if reads {
		mode, mark = locking.Shared, "r."+me
	}
	n, _ := strconv.Atoi(rounds)
	violations, overlaps := 0, 0
	for range n {
		err := locking.With(context.Background(), l, locking.Key(filepath.Base(path)), mode, func(context.Context) error {
			v, o, err := inside(folder, mark, reads)
			violations += v
			overlaps += o
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Println("done", rounds, "violations", violations, "overlaps", overlaps)
	return nil
}

func inside(folder, mark string, reads bool) (violations, overlaps int, err error) {
	f, err := os.OpenFile(filepath.Join(folder, mark), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, 0, err
	}
	f.Close()
	defer os.Remove(filepath.Join(folder, mark))
	names, err := os.ReadDir(folder)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range names {
		switch n := e.Name(); {
		case n == mark:
		case strings.HasPrefix(n, "w."), strings.HasPrefix(n, "r.") && !reads:
			violations++
		case strings.HasPrefix(n, "r."):
			overlaps = 1
		}
	}
	if reads {
		time.Sleep(5 * time.Millisecond)
		return violations, overlaps, nil
	}
	counter := filepath.Join(folder, "counter")
	b, err := os.ReadFile(counter)
	if err != nil {
		return violations, 0, err
	}
	n, err := strconv.Atoi(string(b))
	if err != nil {
		return violations, 0, err
	}
	return violations, 0, os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600)
}

// fileLog is a numbered log with fences, the state behind a lock in small.
type fileLog string

var errFenced = errors.New("fenced")

// put publishes record n, whose content is the token of who writes it.
func (l fileLog) put(n int, token locking.Token) error {
	f, err := os.OpenFile(filepath.Join(string(l), fmt.Sprintf("%08d", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return errFenced
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprint(f, token)
	return err
}

func (l fileLog) head() int {
	names, _ := os.ReadDir(string(l))
	return len(names)
}

// Fence implements locking.Fencer.
func (l fileLog) Fence(context.Context) (locking.Token, error) {
	for {
		n := l.head() + 1
		if err := l.put(n, locking.Token(n)); !errors.Is(err, errFenced) {
			return locking.Token(n), err
		}
	}
}

// check fails the test if a record stands behind one of a later grant.
func (l fileLog) check(t testing.TB) {
	last := 0
	for n := 1; n <= l.head(); n++ {
		b, err := os.ReadFile(filepath.Join(string(l), fmt.Sprintf("%08d", n)))
		if err != nil {
			t.Fatal(err)
		}
		token, _ := strconv.Atoi(string(b))
		if token < last {
			t.Errorf("record %d is of grant %d, after one of grant %d", n, token, last)
		}
		last = token
	}
}

// childHold takes a lock and commits until it is refused. It says what happens.
func childHold(servers, root, dir string) error {
	l, err := childOpen(servers, root, realTimeout)
	if err != nil {
		return err
	}
	defer l.Close()
	log := fileLog(dir)
	le, err := l.Lock(context.Background(), listKey, locking.Exclusive, locking.WithFencer(log))
	if err != nil {
		return err
	}
	fmt.Println("held", le.Token())
	for n := int(le.Token()) + 1; ; n++ { // heedless of the context
		if err := log.put(n, le.Token()); err != nil {
			fmt.Println(err)
			break
		}
		if n == int(le.Token())+3 {
			fmt.Println("working")
		}
		time.Sleep(2 * time.Millisecond)
	}
	<-le.Context().Done()
	fmt.Println("cause:", context.Cause(le.Context()))
	fmt.Println(le.Unlock(context.Background()))
	return nil
}

// realStoppedClient stops a process that holds the lock for longer than its session lives.
func realStoppedClient(t *testing.T, e ensemble) {
	dir := t.TempDir()
	cmd := child(t.Context(), t, "hold", strings.Join(e.Addrs(), ","), "/stopped", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	expect := func(prefix string) {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), prefix) {
			t.Fatalf("the child says %q, want %q", lines.Text(), prefix)
		}
	}
	expect("held 1")
	expect("working")
	l := open(t, e.config("/stopped", 1))
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), realTimeout+time.Minute)
	defer cancel()
	le, err := l.Lock(ctx, listKey, locking.Exclusive, locking.WithFencer(fileLog(dir)))
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("taken over after %v; session timeout %v", took.Round(time.Millisecond), realTimeout)
	for n := range 3 {
		if err := fileLog(dir).put(int(le.Token())+1+n, le.Token()); err != nil {
			t.Errorf("commit of the new holder: %v", err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	expect(errFenced.Error())
	expect("cause: " + locking.ErrLost.Error())
	expect("unlock list@example.org: " + locking.ErrLost.Error())
	if err := le.Verify(context.Background()); err != nil {
		t.Error(err)
	}
	if err := le.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
	fileLog(dir).check(t)
}
