package oneclick

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// The secrets stand on the share, keys/unsubscribe/<seconds since 1970>.<random>: one file
// each, readable by its owner only, written once and never changed.
const (
	folder     = "keys/unsubscribe"
	secretSize = 32
)

// Times of a secret's life. A new one makes tokens only when every host has had the time
// to see it: NFS may hide a new name for half a minute. One that was replaced is good for
// the tokens in mail that is out: RFC 8058 names no time, mailbox providers want 60 days.
const (
	settle  = 5 * time.Minute
	retired = 120 * 24 * time.Hour
	reread  = time.Minute
)

// MaxAge is how old a token may be.
const MaxAge = 3 * 365 * day

// ErrNoSecret: there is none yet.
var ErrNoSecret = errors.New("no secret for unsubscribe tokens")

// filePerm keeps the group out, which the rest of the share lets in.
const filePerm fs.FileMode = 0o600

// Secrets are the site's secrets, as one process sees them. Any goroutine may use it.
type Secrets struct {
	fs  fsys.FS
	now clock.Clock

	mu    sync.Mutex // never held across a call to the share
	known []secret   // oldest first
	read  time.Time
}

type secret struct {
	made time.Time
	key  []byte
}

// NewSecrets makes Secrets on a share. It does no I/O.
func NewSecrets(f fsys.FS, now clock.Clock) *Secrets { return &Secrets{fs: f, now: now} }

// Rotate makes a new secret; it is on stable storage when Rotate returns. Tokens of the
// one before it stay good for 120 days.
func (s *Secrets) Rotate(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("make secret: %w", err)
	}
	raw := make([]byte, secretSize)
	if _, err := rand.Read(raw); err != nil {
		return fmt.Errorf("make secret: %w", err)
	}
	if err := fsys.MkdirAll(s.fs, folder); err != nil {
		return fmt.Errorf("make secret: %w", err)
	}
	name := folder + "/" + strconv.FormatInt(s.now().Unix(), 10) + "." + strings.ToLower(rand.Text())
	temp := folder + "/." + rand.Text()
	err := write(s.fs, temp, hex.EncodeToString(raw)+"\n")
	if err == nil {
		err = fsys.Publish(s.fs, temp, name, fsys.ByLink)
	}
	if err = errors.Join(err, fsys.RemoveAny(s.fs, temp)); err != nil {
		return fmt.Errorf("make secret: %w", err)
	}
	s.mu.Lock()
	s.read = time.Time{}
	s.mu.Unlock()
	return nil
}

// Ensure makes the first secret of a site that has none.
func (s *Secrets) Ensure(ctx context.Context) error {
	all, err := s.all(ctx, true)
	if err != nil || len(all) > 0 {
		return err
	}
	return s.Rotate(ctx)
}

func write(f fsys.FS, name, text string) error {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	err = file.Chmod(filePerm)
	if err == nil {
		_, err = file.Write([]byte(text))
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// all gives the secrets that count, oldest first, from memory if they were read of late.
func (s *Secrets) all(ctx context.Context, fresh bool) ([]secret, error) {
	now := s.now()
	s.mu.Lock()
	known, read := s.known, s.read
	s.mu.Unlock()
	if !fresh && !read.IsZero() && now.Sub(read) < reread {
		return known, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	list, err := s.fs.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	var out []secret
	for _, e := range list {
		seconds, _, ok := strings.Cut(e.Name, ".")
		n, err := strconv.ParseInt(seconds, 10, 64)
		if !ok || err != nil {
			continue
		}
		text, err := fsys.ReadFile(s.fs, folder+"/"+e.Name, 4096)
		if err != nil {
			return nil, fmt.Errorf("read secrets: %w", err)
		}
		key, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil || len(key) < secretSize {
			return nil, fmt.Errorf("read secrets: %s is damaged", e.Name)
		}
		out = append(out, secret{time.Unix(n, 0), key})
	}
	slices.SortFunc(out, func(a, b secret) int { return a.made.Compare(b.made) })
	s.mu.Lock()
	s.known, s.read = out, now
	s.mu.Unlock()
	return out, nil
}

// Key is what makes tokens of a list now. ErrNoSecret.
func (s *Secrets) Key(ctx context.Context, l *lists.List) (Key, error) {
	all, err := s.all(ctx, false)
	if err != nil {
		return Key{}, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if i == 0 || s.now().Sub(all[i].made) >= settle {
			return NewKey(all[i].key, l.ID, l.Incarnation), nil
		}
	}
	return Key{}, ErrNoSecret
}

// Check tells whose token it is, whichever secret made it. ErrToken, or a trouble of the
// share. What another host has made a moment ago is looked for.
func (s *Secrets) Check(ctx context.Context, l *lists.List, token string) (lists.MemberID, error) {
	all, err := s.all(ctx, false)
	if err != nil {
		return 0, err
	}
	member, err := check(all, l, token, s.now())
	s.mu.Lock()
	stale := s.now().Sub(s.read) > time.Second
	s.mu.Unlock()
	if err == nil || !stale {
		return member, err
	}
	if all, err = s.all(ctx, true); err != nil {
		return 0, err
	}
	return check(all, l, token, s.now())
}

func check(all []secret, l *lists.List, token string, now time.Time) (lists.MemberID, error) {
	for i := len(all) - 1; i >= 0; i-- {
		if i+1 < len(all) && now.Sub(all[i+1].made) > retired {
			break
		}
		m, err := NewKey(all[i].key, l.ID, l.Incarnation).Check(token, now, MaxAge)
		if err == nil {
			return m, nil
		}
	}
	return 0, ErrToken
}
