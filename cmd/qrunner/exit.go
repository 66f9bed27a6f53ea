package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"qrunner/cmd/qrunner/config"
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
	"qrunner/locking/zklock"
)

// Exit statuses of the admin commands: sysexits.h where it has a word for it. The
// pipe target has its own, fewer ones (queue/intake).
const (
	exitOK       = 0
	exitFail     = 1
	exitUsage    = 64
	exitData     = 65
	exitNoInput  = 66
	exitNoList   = 67
	exitSoftware = 70
	exitTempFail = 75
	exitConfig   = 78
)

// inputError: a file that a person named cannot be read.
type inputError struct{ err error }

// Error says which, and why.
func (e *inputError) Error() string { return e.err.Error() }

// Unwrap gives the system's error.
func (e *inputError) Unwrap() error { return e.err }

// dataError: what a person gave cannot be used.
type dataError struct{ err error }

// Error says why.
func (e *dataError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *dataError) Unwrap() error { return e.err }

// errNothing: what was asked for is not there.
var errNothing = errors.New("nothing found")

// report prints an error where a person or a script expects it, and gives the
// status that goes with it.
func report(std stdio, asJSON bool, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitStatus(err)
	switch {
	case errors.Is(err, errSilent), errors.As(err, new(*statusError)):
	case asJSON:
		_ = json.NewEncoder(std.err).Encode(struct {
			Error string `json:"error"`
			Exit  int    `json:"exit"`
		}{err.Error(), code})
	default:
		fmt.Fprintln(std.err, "qrunner:", err)
	}
	return code
}

func exitStatus(err error) int {
	var ended *statusError
	var usage *usageError
	var conf *config.Error
	switch {
	case errors.As(err, &ended):
		return ended.code
	case errors.As(err, &usage), errors.Is(err, lists.ErrBadID):
		return exitUsage
	case errors.As(err, &conf), errors.Is(err, zklock.ErrBounds), errors.Is(err, zklock.ErrDenied):
		return exitConfig
	case errors.Is(err, lists.ErrNoList):
		return exitNoList
	case errors.As(err, new(*dataError)):
		return exitData
	case errors.As(err, new(*inputError)), errors.Is(err, errNothing), errors.Is(err, store.ErrNoHeld), errors.Is(err, store.ErrNoPending):
		return exitNoInput
	case errors.Is(err, site.ErrNoSite), errors.Is(err, locking.ErrHeld), errors.Is(err, locking.ErrLost), errors.Is(err, zklock.ErrNoAnswer),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return exitTempFail
	case errors.Is(err, fs.ErrNotExist):
		return exitNoInput
	case fsys.Trouble(err):
		return exitTempFail
	}
	return exitFail
}
