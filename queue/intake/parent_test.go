package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the child too: with this variable the binary does one thing and ends.
const childVar = "INTAKE_TEST_CHILD"

func TestMain(m *testing.M) {
	if what, ok := os.LookupEnv(childVar); ok {
		os.Exit(child(what, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func child(what string, args []string) int {
	switch what {
	case "exit":
		fmt.Println(args[1])
		fmt.Fprintln(os.Stderr, "a log line")
		n, err := strconv.Atoi(args[0])
		if err != nil {
			panic(err)
		}
		return n
	case "deliver":
		s := newShare()
		in := New(Config{Spool: s, Directory: s, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
		status, line := ExitStatus(in.Deliver(context.Background(), DeliverArgs{Words: args}, os.Stdin))
		if line != "" {
			fmt.Println(line)
		}
		return status
	case "panic":
		panic("no way out")
	case "fatal": // cannot be recovered from
		m := map[int]int{}
		for range 4 {
			go func() {
				for {
					m[1]++
				}
			}()
		}
		select {}
	case "signal":
		syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	case "noise":
		fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 100_000))
		return 1
	case "hang": // with a child of its own; both hold the pipe until they end
		pipe, err := os.OpenFile(args[0], os.O_WRONLY, 0)
		if err != nil {
			return 1
		}
		cmd := exec.Command("sleep", "1000")
		cmd.ExtraFiles = []*os.File{pipe}
		if err := cmd.Start(); err != nil {
			return 1
		}
		fmt.Fprintln(pipe, "up")
		select {}
	}
	return 1
}

func runParent(t *testing.T, ctx context.Context, what, stdin string, args ...string) (int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() { io.WriteString(w, stdin); w.Close() }()
	var out bytes.Buffer
	status := Parent(ctx, Child{Args: args, Env: append(os.Environ(), childVar+"="+what), Stdin: r, Out: &out})
	return status, out.String()
}

// TestParent: the child's end, whatever it is, becomes one of four statuses, and the
// first thing printed is a status code for Postfix.
func TestParent(t *testing.T) {
	for name, test := range map[string]struct {
		what   string
		args   []string
		stdin  string
		status int
		out    string
	}{
		"0":          {"exit", []string{"0", ""}, "", 0, ""},
		"65":         {"exit", []string{"65", "5.3.4 too big"}, "", 65, "5.3.4 too big\n"},
		"67":         {"exit", []string{"67", "5.1.1 no such list"}, "", 67, "5.1.1 no such list\n"},
		"75":         {"exit", []string{"75", "4.3.1 no space"}, "", 75, "4.3.1 no space\na log line\n"},
		"67, silent": {"exit", []string{"67", ""}, "", 75, "4.3.0 "},
		"75, silent": {"exit", []string{"75", ""}, "", 75, "4.3.0 "},
		"1":          {"exit", []string{"1", "5.0.0 no"}, "", 75, "4.3.0 "},
		"2":          {"exit", []string{"2", ""}, "", 75, "4.3.0 "},
		"70":         {"exit", []string{"70", ""}, "", 75, "4.3.0 "},
		"78":         {"exit", []string{"78", ""}, "", 75, "4.3.0 "},
		"panic":      {"panic", nil, "", 75, "4.3.0 "},
		"fatal":      {"fatal", nil, "", 75, "4.3.0 "},
		"signal":     {"signal", nil, "", 75, "4.3.0 "},
		"noise":      {"noise", nil, "", 75, "4.3.0 "},
		"stored":     {"deliver", []string{"ant@lists.example.com"}, small, 0, ""},
		"no list":    {"deliver", []string{"nosuch@lists.example.com"}, small, 67, "5.1.1 no such list here\n"},
		"cut":        {"deliver", []string{"ant@lists.example.com"}, "Subj", 75, "4.4.2 "},
		"usage":      {"deliver", nil, small, 75, "4.3.5 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out := runParent(t, context.Background(), test.what, test.stdin, test.args...)
			if status != test.status || !strings.HasPrefix(out, test.out) || test.out == "" && out != "" || len(out) > 3*tailSize {
				t.Errorf("exit %d %.200q, want %d %q", status, out, test.status, test.out)
			}
		})
	}
}

func TestParentCannotStart(t *testing.T) {
	var out bytes.Buffer
	if status := Parent(context.Background(), Child{Path: "/nonexistent", Out: &out}); status != ExitTryLate || !strings.HasPrefix(out.String(), "4.3.0 ") {
		t.Errorf("exit %d %q", status, out.String())
	}
}

// TestParentKillsTheGroup: a hang ends with 75, and nobody of the child's is left:
// the pipe that they hold comes to its end.
func TestParentKillsTheGroup(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan error, 1)
	go func() {
		f, err := os.Open(fifo)
		if err == nil {
			defer f.Close()
			_, err = io.ReadFull(f, make([]byte, len("up\n")))
			cancel()
			io.Copy(io.Discard, f)
		}
		read <- err
	}()
	status, out := runParent(t, ctx, "hang", "", fifo)
	if status != ExitTryLate || !strings.HasPrefix(out, "4.3.0 ") {
		t.Errorf("exit %d %q", status, out)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

func TestParentTimesOut(t *testing.T) {
	var out bytes.Buffer
	status := Parent(context.Background(), Child{Path: "/bin/sleep", Args: []string{"1000"}, Out: &out, Timeout: time.Millisecond})
	if status != ExitTryLate || !strings.HasPrefix(out.String(), "4.3.0 ") {
		t.Errorf("exit %d %q", status, out.String())
	}
}
