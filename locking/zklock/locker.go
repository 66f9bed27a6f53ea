package zklock

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// Locker makes leases out of ZooKeeper nodes. It implements locking.Locker; all methods
// may be called from any goroutine. Close ends it.
type Locker struct {
	cfg     Config
	s       *session
	watches watches

	mu    sync.Mutex
	count Stats
}

var _ locking.Locker = (*Locker)(nil)

// Open connects to the ensemble, and makes the root if it is missing. It fails if there
// is no session within ctx and Config.ConnectTimeout, if the servers' bounds do
// not allow the session timeout, or if the root cannot be used.
func Open(ctx context.Context, cfg Config) (*Locker, error) {
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("zookeeper lock: %w", err)
	}
	l := &Locker{cfg: cfg, watches: watches{at: map[string]*watch{}}}
	var err error
	if l.s, err = connect(&l.cfg); err != nil {
		return nil, fmt.Errorf("zookeeper lock: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.ConnectTimeout, ErrNoAnswer)
	defer cancel()
	if err := l.start(ctx); err != nil {
		l.s.close()
		return nil, fmt.Errorf("zookeeper lock: %w", err)
	}
	return l, nil
}

// What can be wrong with an ensemble, or with what we ask of it.
var (
	// ErrNoAnswer: no server answered in the time that there was, or none that may write.
	ErrNoAnswer = errors.New("no answer in time")
	// ErrDenied: the user that we gave, or who gives none, may not do what locks need.
	ErrDenied = errors.New("no permission for the given user")
	// ErrBounds: the servers do not allow the session timeout.
	ErrBounds = errors.New("outside the servers' bounds")
)

// start gets a session, shows who we are, and looks at the root.
func (l *Locker) start(ctx context.Context) error {
	if err := l.hello(ctx); err != nil {
		return l.unreachable(ctx, err)
	}
	l.s.mu.Lock()
	got, asked := l.s.timeout, l.cfg.SessionTimeout
	l.s.mu.Unlock()
	if got != asked {
		return fmt.Errorf("session timeout %v: %w, which make it %v", asked, ErrBounds, got)
	}
	err := l.makeRoot(ctx)
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		return fmt.Errorf("root %s: %w: %w", l.cfg.Root, ErrDenied, err)
	case errors.Is(err, zk.ErrInvalidACL):
		return fmt.Errorf("root %s: %w, whom the servers do not know: %w", l.cfg.Root, ErrDenied, err)
	case err != nil:
		return fmt.Errorf("root %s: %w", l.cfg.Root, l.unreachable(ctx, err))
	}
	return nil
}

// hello waits for a session and authenticates.
func (l *Locker) hello(ctx context.Context) error {
	if _, err := l.s.ready(ctx); err != nil {
		return err
	}
	if l.cfg.Digest == "" {
		return nil
	}
	_, err := persist(ctx, l.s, func(c *zk.Conn) (struct{}, error) {
		return struct{}{}, c.AddAuth("digest", []byte(l.cfg.Digest))
	})
	if err != nil {
		if errors.Is(err, zk.ErrAuthFailed) {
			err = fmt.Errorf("%w: %w", ErrDenied, err)
		}
		return fmt.Errorf("authenticate: %w", err)
	}
	return nil
}

// makeRoot makes the root, and tries whether we may write below it and read it.
func (l *Locker) makeRoot(ctx context.Context) error {
	exists := func(c *zk.Conn) (bool, error) {
		ok, _, err := c.Exists(l.cfg.Root)
		return ok, err
	}
	ok, err := persist(ctx, l.s, exists)
	if err == nil && !ok {
		err = l.makeDir(ctx, l.cfg.Root)
	}
	if err != nil {
		return err
	}
	if _, err = persist(ctx, l.s, children(l.cfg.Root)); err != nil {
		return err
	}
	guid := random()
	path, err := persist(ctx, l.s, func(c *zk.Conn) (string, error) {
		return c.Create(join(l.cfg.Root, guid), nil, zk.FlagEphemeral, l.cfg.acl())
	})
	if errors.Is(err, zk.ErrNodeExists) { // made, and the answer lost
		path, err = join(l.cfg.Root, guid), nil
	}
	if err != nil {
		return err
	}
	_, err = persist(ctx, l.s, remove(path))
	if errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	return err
}

// unreachable adds to err what is known of the servers, if it is that time was up.
func (l *Locker) unreachable(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	l.s.mu.Lock()
	why := l.s.failure
	l.s.mu.Unlock()
	if why == nil {
		why = errors.New("they do not accept a session that may write")
	}
	return fmt.Errorf("servers %s: %w: %w", strings.Join(l.cfg.Servers, ", "), err, why)
}

// Close ends the session, and with it all leases: their contexts end with cause ErrLost,
// and their nodes go at once if a server is there to be told, else with the
// session's timeout.
func (l *Locker) Close() error {
	l.s.close()
	return nil
}

// dir is the node of a key's lock.
func (l *Locker) dir(key locking.Key) (string, error) {
	if _, err := locking.ParseKey(string(key)); err != nil {
		return "", err
	}
	for seg := range strings.SplitSeq(string(key), "/") {
		if err := checkSegment(seg); err != nil {
			return "", fmt.Errorf("lock key %q: %w", key, err)
		}
	}
	if l.cfg.Root == "/" && (key == "zookeeper" || strings.HasPrefix(string(key), "zookeeper/")) {
		return "", fmt.Errorf("lock key %q: the name is ZooKeeper's own", key)
	}
	return join(l.cfg.Root, string(key)), nil
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// random makes 128 random bits in hex.
func random() string {
	var b [guidLen / 2]byte
	_, _ = crand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// waitedSince is what counts as waiting.
func (l *Locker) waitedSince(t time.Duration) time.Duration { return l.cfg.Mono() - t }
