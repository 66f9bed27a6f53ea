package zklock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking/clock"
	"qrunner/locking/hosts"
)

// Config is what a Locker needs.
type Config struct {
	// Servers are the members of the ensemble, host or host:port (default port
	// 2181). A name is looked up again at each connection.
	Servers []string
	// Root is the node below which locks are kept (default "/qrunner/locks"); it is
	// made if it is missing. It is to ZooKeeper what a chroot is in other clients.
	Root string
	// SessionTimeout is how long the ensemble waits for a silent process before it
	// gives its locks away (default 15 s). It must lie within the servers' bounds, by
	// default 2 to 20 of their ticks, which is 4 to 40 s.
	SessionTimeout time.Duration
	// ConnectTimeout bounds Open (default 10 s).
	ConnectTimeout time.Duration
	// Digest is "user:password" for ZooKeeper's digest authentication; with it the
	// nodes that we make are for that user alone. Empty means open to the world.
	Digest string
	// TLS makes the connections secure; nil for plain ones. An empty ServerName is
	// filled in from the server's address.
	TLS *tls.Config
	// Naming says how the lock nodes are called (default NamingQrunner).
	Naming Naming
	// Host is this process, shown to whoever asks who holds a lock.
	Host hosts.Identity
	// Mono is the host's clock (default clock.Boot).
	Mono clock.Mono
	// Dial makes the network connections (default: net.Dialer).
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Log gets losses and what cannot be told to a caller; nil discards.
	Log *slog.Logger
}

func (c *Config) setDefaults() {
	if c.Root == "" {
		c.Root = "/qrunner/locks"
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 15 * time.Second
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if c.Naming == "" {
		c.Naming = NamingQrunner
	}
	if c.Mono == nil {
		c.Mono = clock.Boot
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

func (c *Config) check() error {
	if len(c.Servers) == 0 {
		return errors.New("no servers")
	}
	for _, s := range zk.FormatServers(c.Servers) {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return fmt.Errorf("server %q: want host or host:port", s)
		}
	}
	if !strings.HasPrefix(c.Root, "/") || c.Root != "/" && strings.HasSuffix(c.Root, "/") {
		return fmt.Errorf("root %q: want an absolute path", c.Root)
	}
	if c.Root != "/" {
		for seg := range strings.SplitSeq(c.Root[1:], "/") {
			if err := checkSegment(seg); err != nil {
				return fmt.Errorf("root %q: %w", c.Root, err)
			}
		}
	}
	if c.SessionTimeout < time.Millisecond || c.SessionTimeout > time.Hour {
		return fmt.Errorf("session timeout %v: must be at least 1ms and at most 1h", c.SessionTimeout)
	}
	if c.ConnectTimeout < 0 {
		return fmt.Errorf("connect timeout %v: must be positive", c.ConnectTimeout)
	}
	if user, password, ok := strings.Cut(c.Digest, ":"); c.Digest != "" && (!ok || user == "" || password == "") {
		return errors.New("digest: want user:password")
	}
	if c.Naming != NamingQrunner && c.Naming != NamingKazoo {
		return fmt.Errorf("naming %q: want %q or %q", c.Naming, NamingQrunner, NamingKazoo)
	}
	return nil
}

// acl is who may do what to a node that we make.
func (c *Config) acl() []zk.ACL {
	if c.Digest != "" {
		return zk.AuthACL(zk.PermAll)
	}
	return zk.WorldACL(zk.PermAll)
}
