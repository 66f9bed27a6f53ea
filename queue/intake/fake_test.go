package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// share is a spool and a directory in memory whose calls can be made to fail.
type share struct {
	mu     sync.Mutex
	lists  []lists.ID
	stored []queue.Entry
	woken  []string
	// put and resolve are asked first, by target or recipient address.
	put, resolve map[string]error
}

func newShare() *share {
	return &share{
		lists: []lists.ID{"ant@lists.example.com", "bee@lists.example.com", "longer-than-15-octets@lists.example.com"},
		put:   map[string]error{}, resolve: map[string]error{},
	}
}

var errPanic = errors.New("panic, please")

func (s *share) Put(_ context.Context, e *queue.Entry) (queue.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch err := s.put[string(e.Target.Address())]; {
	case err == errPanic:
		panic(err)
	case err != nil:
		return "", err
	}
	own := *e
	own.Raw = slices.Clone(e.Raw)
	s.stored = append(s.stored, own)
	return queue.NewID(time.Unix(0, 0), uint64(len(s.stored)), "host", 1), nil
}

func (s *share) Resolve(_ context.Context, a mailaddr.Address) (lists.Target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch err := s.resolve[a.Key()]; {
	case err == errPanic:
		panic(err)
	case err != nil:
		return lists.Target{}, err
	}
	if local := strings.ToLower(a.Local()); a.Domain() == "lists.example.com" && (local == "postmaster" || local == "abuse") {
		return lists.Target{List: lists.Site, Sub: lists.SubOwner}, nil
	}
	for _, t := range lists.Candidates(a) {
		if slices.Contains(s.lists, t.List) {
			return t, nil
		}
	}
	return lists.Target{}, fmt.Errorf("resolve: %w", lists.ErrNoList)
}

func (s *share) Lists(context.Context) ([]lists.ID, error) { return append(s.lists, lists.Site), nil }

func (s *share) wake(q queue.Name, l lists.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.woken = append(s.woken, string(q)+"/"+string(l))
}

// take removes and returns what was stored.
func (s *share) take() []queue.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stored
	s.stored = nil
	return out
}

func (s *share) fail(where map[string]error, address string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	where[address] = err
}

// faults are errors by the names that dialogues use: plain, wrapped and typed ones
// of every kind that the share, the library and the standard library have.
var faults = map[string]error{
	"ok":       nil,
	"plain":    errors.New("plain"),
	"ENOSPC":   &fs.PathError{Op: "write", Path: "tmp/x", Err: syscall.ENOSPC},
	"EDQUOT":   fmt.Errorf("put: %w", &fs.PathError{Op: "close", Path: "tmp/x", Err: syscall.EDQUOT}),
	"EIO":      fmt.Errorf("put: %w", &fs.PathError{Op: "sync", Path: "tmp/x", Err: syscall.EIO}),
	"ESTALE":   syscall.ESTALE,
	"EROFS":    fmt.Errorf("put: %w", syscall.EROFS),
	"EACCES":   fmt.Errorf("put: %w", syscall.EACCES),
	"EOF":      io.EOF,
	"nosite":   fmt.Errorf("check site: %w", errors.New("share not mounted")),
	"smtp554":  &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 0, 0}, Message: "typed"},
	"wrap550":  fmt.Errorf("put: %w", &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}}),
	"net":      &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
	"timeout":  fmt.Errorf("put: %w", context.DeadlineExceeded),
	"canceled": fmt.Errorf("put: %w", context.Canceled),
	"nolist":   fmt.Errorf("put: %w", lists.ErrNoList),
	"doubt":    errors.Join(lists.ErrNoList, syscall.EIO),
	"panic":    errPanic,
	"newline":  errors.New("two\r\n250 2.0.0 lines"),
}

// newIntake makes an Intake on s with limits for tests.
func newIntake(t testing.TB, s *share, l Limits) *Intake {
	t.Helper()
	return New(Config{
		Spool: s, Directory: s, Wake: s.wake, Host: "mx.example.com", Limits: l,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
}
