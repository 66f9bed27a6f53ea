package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// daemon is a running 'qrunner run'.
type daemon struct {
	t    *testing.T
	h    *host
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and its log is complete

	mu    sync.Mutex
	lines []logLine
	raw   []string
	more  chan struct{} // closed at the next line
	err   error         // of its end
}

// logLine is one record of the log, as JSON.
type logLine map[string]any

func (l logLine) text(key string) string { s, _ := l[key].(string); return s }

// start runs the daemon and waits until it says that it is running.
func (h *host) start() *daemon {
	h.t.Helper()
	d := h.launch()
	d.wait("running")
	return d
}

// launch runs the daemon and does not wait for anything.
func (h *host) launch() *daemon {
	h.t.Helper()
	return h.follow(h.command("run"))
}

// follow starts a command that runs the daemon in a process group of its own, and
// reads its log.
func (h *host) follow(cmd *exec.Cmd) *daemon {
	h.t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	d := &daemon{t: h.t, h: h, cmd: cmd, done: make(chan struct{}), more: make(chan struct{})}
	out, err := d.cmd.StderrPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go d.read(out)
	h.t.Cleanup(func() {
		select {
		case <-d.done:
		default:
			d.signal(syscall.SIGKILL)
			<-d.done
		}
		if h.t.Failed() {
			d.dump(25)
		}
	})
	return d
}

func (d *daemon) read(r io.Reader) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var l logLine
		_ = json.Unmarshal(sc.Bytes(), &l) // what is no record is kept as text
		d.mu.Lock()
		d.raw = append(d.raw, sc.Text())
		d.lines = append(d.lines, l)
		close(d.more)
		d.more = make(chan struct{})
		d.mu.Unlock()
	}
	err := d.cmd.Wait()
	d.mu.Lock()
	d.err = err
	d.mu.Unlock()
	close(d.done)
}

// dump shows the end of the log.
func (d *daemon) dump(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.t.Logf("end of the log of %s:\n%s", d.h.conf.Host, strings.Join(d.raw[max(0, len(d.raw)-n):], "\n"))
}

// logged is the records so far with a message.
func (d *daemon) logged(msg string) []logLine {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []logLine
	for _, l := range d.lines {
		if l.text("msg") == msg {
			out = append(out, l)
		}
	}
	return out
}

// wait waits for a record with that message and returns the first.
func (d *daemon) wait(msg string) logLine {
	d.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		d.mu.Lock()
		more := d.more
		d.mu.Unlock()
		if got := d.logged(msg); len(got) > 0 {
			return got[0]
		}
		select {
		case <-more:
		case <-d.done:
			if got := d.logged(msg); len(got) > 0 {
				return got[0]
			}
			d.t.Fatalf("%s ended without logging %q", d.h.conf.Host, msg)
		case <-limit.C:
			d.t.Fatalf("%s did not log %q", d.h.conf.Host, msg)
		}
	}
}

// addr is where a door of the daemon is: "lmtp" or "smtp".
func (d *daemon) addr(protocol string) string {
	d.t.Helper()
	for _, l := range d.logged("listening") {
		if l.text("protocol") == protocol {
			return l.text("address")
		}
	}
	d.t.Fatalf("nothing listens on %s", protocol)
	return ""
}

// term sends SIGTERM.
func (d *daemon) term() { d.signal(syscall.SIGTERM) }

// signal is for the daemon and whatever it runs under. One that has just ended is no
// error.
func (d *daemon) signal(s syscall.Signal) { _ = syscall.Kill(-d.cmd.Process.Pid, s) }

// stop ends the daemon as an init system does, and expects a clean end.
func (d *daemon) stop() {
	d.t.Helper()
	d.term()
	d.ended()
	if d.err != nil {
		d.t.Errorf("%s ended with %v", d.h.conf.Host, d.err)
	}
}

// ended waits for the end.
func (d *daemon) ended() {
	d.t.Helper()
	select {
	case <-d.done:
	case <-time.After(patience):
		d.t.Fatalf("%s does not end", d.h.conf.Host)
	}
}

// kill is a sudden death.
func (d *daemon) kill() {
	d.signal(syscall.SIGKILL)
	<-d.done
}

// locks is what the daemon said of its locks when it stopped.
func (d *daemon) locks() map[string]any {
	d.t.Helper()
	l, ok := d.wait("stopped")["locks"].(map[string]any)
	if !ok {
		d.t.Fatal("no lock statistics in the log")
	}
	return l
}

// broken is how many locks it took by force.
func (d *daemon) broken() int {
	n := 0
	breaks, _ := d.locks()["breaks"].(map[string]any)
	for _, v := range breaks {
		f, _ := v.(float64)
		n += int(f)
	}
	return n
}
