package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"qrunner/locking"
)

func TestLockStatus(t *testing.T) {
	link := func(e error) error {
		return fmt.Errorf("lock x: %w", &os.LinkError{Op: "link", Old: ".x.claim", New: "x", Err: e})
	}
	open := func(e error) error { return fmt.Errorf("make claim: %w", &fs.PathError{Op: "open", Path: "x", Err: e}) }
	for _, c := range []struct {
		err  error
		want int
	}{
		{&locking.HeldError{Key: "x"}, exitNotGot},
		{context.DeadlineExceeded, exitNotGot},
		{locking.ErrNotALock, exitNotALock},
		{link(syscall.EPERM), exitNoLinks}, // what Linux answers on FAT
		{link(syscall.ENOTSUP), exitNoLinks},
		{link(syscall.ENOSYS), exitNoLinks},
		{link(syscall.EACCES), exitCantCreate},
		{open(syscall.EPERM), exitCantCreate},
		{open(syscall.ENOENT), exitCantCreate},
		{open(syscall.EROFS), exitCantCreate},
		{open(syscall.ENOSPC), exitCantCreate},
		{open(syscall.EIO), exitOSError},
		{errors.New("host name"), exitOSError},
	} {
		if got := lockStatus(c.err); got != c.want {
			t.Errorf("%v: status %d, want %d", c.err, got, c.want)
		}
	}
}
