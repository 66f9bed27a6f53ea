package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// child is a command that may run only while a lease stands.
type child struct {
	argv []string
	std  stdio
	// killAfter is how long after SIGTERM the command may go on without its lease.
	killAfter time.Duration
}

// run runs the command and returns its status as a shell would, or that the lease was
// lost meanwhile. Signals are passed on. The command has a process group of its own,
// so that they reach what it starts too, unless it shares a terminal with us: then
// the terminal sends its signals to all of us.
func (c child) run(lease context.Context, signals <-chan os.Signal) (code int, lost bool, err error) {
	// The command is to die with this thread, so the thread has to live.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	in, _ := c.std.in.(*os.File)
	tty := in != nil && isTerminal(in)
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.std.in, c.std.out, c.std.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !tty, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return exitNotFound, false, err
		}
		return exitCantRun, false, err
	}
	target := cmd.Process.Pid
	if !tty {
		target = -target
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over, kill := lease.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case <-ended:
			if kill != nil {
				_ = syscall.Kill(target, syscall.SIGKILL) // what it left behind
			}
			return shellStatus(cmd.ProcessState), kill != nil, nil
		case s := <-signals:
			if !tty || s != syscall.SIGINT && s != syscall.SIGQUIT {
				_ = syscall.Kill(target, s.(syscall.Signal))
			}
		case <-over:
			over, kill = nil, time.After(c.killAfter)
			_ = syscall.Kill(target, syscall.SIGTERM)
			_ = syscall.Kill(target, syscall.SIGCONT)
		case <-kill:
			_ = syscall.Kill(target, syscall.SIGKILL)
		}
	}
}

// shellStatus is a process's status as a shell gives it.
func shellStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return exitSignal + int(w.Signal())
	}
	return s.ExitCode()
}
