package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Child is the process that Parent runs: the same binary, told to do the work.
type Child struct {
	// Path is the program; empty: this very one, even if its file was replaced.
	Path string
	// Args is its arguments, without its name; Env its environment.
	Args, Env []string
	// Stdin is handed on as it is: the message.
	Stdin *os.File
	// Out gets one line if the status is not 0, then the end of what the child
	// wrote to standard error. Postfix reads the code at its beginning.
	Out io.Writer
	// Timeout is how long the child may take; 0: 5 minutes. Postfix gives the pipe
	// 1000 s and then bounces.
	Timeout time.Duration
}

// killWait is how long a killed child may take to go. One that hangs in a call to a
// dead NFS server does not go; if its call succeeds after all, the message is stored
// twice, and the list's holder drops the repeat.
const killWait = 2 * time.Second

// Parent runs the pipe target's work in a child process and returns the status to
// exit with: the child's own if it is 0, 65 or 67, and 75 for all else, that is, for
// a panic or another end of the Go runtime, a signal, a child that cannot be started,
// hangs, or outlives ctx. The child has to print its status line to standard output.
// Parent is for a process of its own: it has SIGPIPE ignored.
func Parent(ctx context.Context, c Child) (status int) {
	defer func() {
		if p := recover(); p != nil {
			status = c.tryLater("4.3.0 delivery failed", fmt.Sprint(p))
		}
	}()
	signal.Ignore(syscall.SIGPIPE)
	// The child is to die with this thread, so the thread has to live.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Minute
	}
	if c.Path == "" {
		c.Path = "/proc/self/exe"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.run(ctx)
}

func (c Child) run(ctx context.Context) int {
	var out, errs tail
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.Stdin, &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = killWait
	if err := cmd.Start(); err != nil {
		return c.tryLater("4.3.0 delivery process did not start", err.Error())
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return c.status(err, cmd.ProcessState, &out, &errs)
	case <-ctx.Done():
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already is as good
	select {
	case <-ended:
	case <-time.After(killWait):
	}
	return c.tryLater("4.3.0 delivery took too long or was told to stop", ctx.Err().Error())
}

// status reads the child's end. An error of Wait beside a good status means that
// somebody still holds the child's output; the status is final all the same.
func (c Child) status(err error, end *os.ProcessState, out, errs *tail) int {
	code := ExitTryLate
	if end != nil && end.Exited() {
		code = end.ExitCode()
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	switch code {
	case ExitStored:
		return ExitStored
	case ExitData, ExitNoList:
		if strings.HasPrefix(line, "5.") {
			fmt.Fprintln(c.Out, line)
			return code
		}
	case ExitTryLate:
		if strings.HasPrefix(line, "4.") {
			fmt.Fprintf(c.Out, "%s\n%s", line, errs.String())
			return code
		}
	}
	return c.tryLater(fmt.Sprintf("4.3.0 delivery process ended badly: %v", err), errs.String())
}

func (c Child) tryLater(line, more string) int {
	fmt.Fprintf(c.Out, "%s\n%s\n", line, strings.TrimSpace(more))
	return ExitTryLate
}

// tail keeps the beginning and the end of what is written to it.
type tail struct{ first, last bytes.Buffer }

// tailSize is how much of each is kept.
const tailSize = 2048

// Write never fails: a child must not fail for what it says.
func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	room := min(tailSize-t.first.Len(), len(p))
	t.first.Write(p[:room])
	t.last.Write(p[room:])
	if over := t.last.Len() - tailSize; over > 0 {
		t.last.Next(over)
	}
	return n, nil
}

// String is what was kept.
func (t *tail) String() string { return t.first.String() + t.last.String() }
