package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	"qrunner/locking/zklock"
)

// The exit statuses of lock run beside the command's own (sysexits.h, and the shell's
// for a command that does not start or dies of signal n: 128+n).
const (
	exitNotALock   = 65 // what has the lock's name was never a lock, and is left alone
	exitNoLinks    = 69 // the file system has no hard links
	exitNoServers  = 69 // ZooKeeper does not answer
	exitOSError    = 71
	exitCantCreate = 73 // the folder is missing, full, or not writable
	exitLost       = 74 // the lock was lost, and the command stopped
	exitNotGot     = 75 // somebody else has it
	exitDenied     = 77 // ZooKeeper: the user has no rights
	exitCantRun    = 126
	exitNotFound   = 127
	exitSignal     = 128
)

type lockRunCmd struct {
	Try      bool           `help:"Do not wait for the lock." xor:"wait"`
	Wait     *time.Duration `help:"Wait for the lock no longer than this; without, for as long as it takes." xor:"wait" placeholder:"DURATION"`
	Lifetime time.Duration  `help:"The lock counts as abandoned when it was not refreshed for so long. It is refreshed at every fifth of it." default:"5m"`
	Shared   bool           `help:"The command only reads: it may run beside others that only read. ZooKeeper only."`

	SharedAsExclusive bool `help:"With a lock file, which has one holder, take --shared for exclusive."`

	ZooKeeper zooKeeperFlags `embed:""`

	Path    string   `arg:"" help:"The lock file, or the lock's node."`
	Command []string `arg:"" passthrough:"" help:"After --: the command and its arguments."`
}

// Help lists the exit statuses.
func (c *lockRunCmd) Help() string {
	return `The lock file is safe on NFS. While the command runs it is refreshed; if it is lost all the same, the command gets SIGTERM, and SIGKILL before anybody else may judge the lock expired.

Exit status: the command's own, 128+n if signal n ended it, 126 or 127 if it could not be started; 75 the lock was not got (--try, --wait), 74 it was lost and the command stopped, 65 what has the lock's name is no lock (it is left alone), 69 no hard links there, 73 nothing can be made in the folder, 64 the command line means nothing, 71 other trouble.

With --zookeeper the lock is a node, and readers (--shared) run together. Its own statuses: 69 no server answered within --connect-timeout, 77 no rights, 78 the servers do not allow the session timeout.`
}

// place is where the lock is kept.
type place struct {
	locker    locking.Locker
	key       locking.Key
	killAfter time.Duration // how long after SIGTERM the command may go on without its lease
	close     func()
}

// Run holds the lock while the command runs. It says itself what goes wrong.
func (c *lockRunCmd) Run(ctx context.Context, a *app) error {
	dir, key, err := c.check()
	if err != nil {
		return &usageError{err}
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	lease, at, sig, err := c.lock(a, dir, key, signals)
	if at != nil {
		defer at.close()
	}
	if sig != nil {
		return &statusError{exitSignal + int(sig.(syscall.Signal))}
	}
	if err != nil {
		return a.lockFailed(err)
	}
	run := child{argv: c.words(), std: a.std, killAfter: at.killAfter}
	code, lost, err := run.run(lease.Context(), signals)
	if err != nil {
		fmt.Fprintln(a.std.err, "qrunner:", err)
	}
	if uerr := lease.Unlock(context.WithoutCancel(ctx)); errors.Is(uerr, locking.ErrLost) {
		lost = true
	} else if uerr != nil {
		fmt.Fprintln(a.std.err, "qrunner:", uerr)
	}
	if lost {
		fmt.Fprintf(a.std.err, "qrunner: %s was lost while the command ran\n", c.Path)
		code = exitLost
	}
	if code == 0 {
		return nil
	}
	return &statusError{code}
}

// check looks at the command line and splits the path.
func (c *lockRunCmd) check() (dir string, key locking.Key, err error) {
	onZooKeeper := len(c.ZooKeeper.Servers) > 0
	switch {
	case c.Lifetime < time.Millisecond || c.Lifetime > 24*time.Hour:
		return "", "", fmt.Errorf("--lifetime %v: must be at least 1ms and at most 24h", c.Lifetime)
	case c.Wait != nil && *c.Wait < 0:
		return "", "", fmt.Errorf("--wait %v: must not be negative", *c.Wait)
	case len(c.words()) == 0:
		return "", "", errors.New("no command after --")
	case strings.HasSuffix(c.Path, "/"):
		return "", "", fmt.Errorf("%s: a lock is a file", c.Path)
	case onZooKeeper && !path.IsAbs(c.Path):
		return "", "", fmt.Errorf("%s: the path of a node begins with a slash", c.Path)
	case c.Shared && !onZooKeeper && !c.SharedAsExclusive:
		return "", "", errors.New("a lock file has one holder: --shared needs --zookeeper, or --shared-as-exclusive to wait for readers too")
	}
	dir, base := filepath.Split(c.Path)
	key, err = locking.ParseKey(base)
	return filepath.Clean(dir), key, err
}

// words is the command without the "--" before it.
func (c *lockRunCmd) words() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

// open finds the place of the lock.
func (c *lockRunCmd) open(ctx context.Context, a *app, dir string, key locking.Key) (*place, error) {
	id, err := hosts.Self("")
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(a.std.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if len(c.ZooKeeper.Servers) > 0 {
		l, err := c.ZooKeeper.open(ctx, dir, id, log)
		if err != nil {
			return nil, err
		}
		// The lease ends half a session timeout before anybody else can have the lock.
		return &place{l, key, c.ZooKeeper.SessionTimeout / 6, func() { closeLocker(l) }}, nil
	}
	share, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	l, err := lockfile.New(lockfile.Config{
		FS: share, Root: ".", Plain: true, Host: id, Lifetime: c.Lifetime,
		SharedAsExclusive: c.SharedAsExclusive, Detach: true, Log: log,
	})
	if err != nil {
		_ = share.Close()
		return nil, err
	}
	return &place{l, key, c.Lifetime / 30, func() { _ = share.Close() }}, nil
}

// lock gets the lock. A signal meanwhile ends the wait and is returned.
func (c *lockRunCmd) lock(a *app, dir string, key locking.Key, signals <-chan os.Signal) (lease locking.Lease, at *place, sig os.Signal, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	got := make(chan struct{})
	go func() {
		defer close(got)
		if at, err = c.open(ctx, a, dir, key); err == nil {
			lease, err = c.get(ctx, at)
		}
	}()
	select {
	case <-got:
		return lease, at, nil, err
	case sig = <-signals:
		stop()
		<-got
	}
	if lease != nil {
		err = lease.Unlock(context.Background())
	}
	return nil, at, sig, err
}

// get waits for the lock as long as we are told to.
func (c *lockRunCmd) get(ctx context.Context, at *place) (locking.Lease, error) {
	mode, note := locking.Exclusive, locking.WithNote(strings.Join(c.words(), " "))
	if c.Shared {
		mode = locking.Shared
	}
	if c.Wait != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, *c.Wait)
		defer stop()
	}
	// A first try looks at once at what has the lock's name.
	lease, err := at.locker.TryLock(context.WithoutCancel(ctx), at.key, mode, note)
	if errors.Is(err, locking.ErrHeld) && !c.Try && (c.Wait == nil || *c.Wait > 0) {
		lease, err = at.locker.Lock(ctx, at.key, mode, note)
	}
	return lease, err
}

// lockFailed says why there is no lock, and gives the status for it. Who has it says more
// than that the time was up.
func (a *app) lockFailed(err error) error {
	status := lockStatus(err)
	if held := (*locking.HeldError)(nil); errors.As(err, &held) {
		err = held
	}
	fmt.Fprintln(a.std.err, "qrunner:", err)
	return &statusError{status}
}

func lockStatus(err error) int {
	var link *os.LinkError
	switch {
	case errors.Is(err, zklock.ErrNoAnswer):
		return exitNoServers
	case errors.Is(err, zklock.ErrDenied):
		return exitDenied
	case errors.Is(err, zklock.ErrBounds):
		return exitConfig
	case errors.Is(err, locking.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		return exitNotGot
	case errors.Is(err, locking.ErrNotALock):
		return exitNotALock
	case errors.As(err, &link) && anyOf(err, syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS, syscall.EXDEV, syscall.EINVAL, syscall.EMLINK):
		return exitNoLinks
	case errors.Is(err, fs.ErrNotExist), anyOf(err, syscall.ENOTDIR, syscall.EACCES, syscall.EPERM, syscall.EROFS,
		syscall.ENOSPC, syscall.EDQUOT, syscall.ENAMETOOLONG):
		return exitCantCreate
	}
	return exitOSError
}

func anyOf(err error, list ...syscall.Errno) bool {
	for _, e := range list {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
