package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/locking"
	"qrunner/locking/hosts"
	"qrunner/locking/zklock"
)

// zooKeeperFlags are those of lock run for a lock on ZooKeeper.
type zooKeeperFlags struct {
	Servers        []string      `name:"zookeeper" help:"The lock is a node on these ZooKeeper servers, not a file." placeholder:"HOST:PORT,..."`
	SessionTimeout time.Duration `name:"session-timeout" help:"ZooKeeper: a host that is silent for so long loses the lock." default:"15s"`
	ConnectTimeout time.Duration `name:"connect-timeout" help:"ZooKeeper: give up if no server answers for so long." default:"10s"`
	AuthFile       string        `name:"auth-file" help:"ZooKeeper: file with one line user:password, for digest authentication." placeholder:"FILE"`
	Naming         string        `name:"naming" help:"ZooKeeper: names of the nodes: qrunner, or kazoo to share the lock with kazoo." enum:"qrunner,kazoo" default:"qrunner"`
	TLS            bool          `name:"tls" help:"ZooKeeper: talk TLS to the servers."`
	CAFile         string        `name:"ca-file" help:"ZooKeeper: PEM file with the authorities for the servers' certificates; without, the system's." placeholder:"FILE"`
	CertFile       string        `name:"cert-file" help:"ZooKeeper: PEM file with our certificate." placeholder:"FILE"`
	KeyFile        string        `name:"key-file" help:"ZooKeeper: PEM file with its key." placeholder:"FILE"`
}

// open connects to the servers. root is the node above the lock's.
func (f *zooKeeperFlags) open(ctx context.Context, root string, id hosts.Identity, log *slog.Logger) (locking.Operator, error) {
	c, err := zooKeeperConfig(config.Lock{
		Servers: f.Servers, Root: root, SessionTimeout: f.SessionTimeout, ConnectTimeout: f.ConnectTimeout, AuthFile: f.AuthFile,
		Naming: f.Naming, TLS: f.TLS, CAFile: f.CAFile, CertFile: f.CertFile, KeyFile: f.KeyFile,
	})
	if err != nil {
		return nil, err
	}
	c.Host, c.Log = id, log
	return zklock.Open(ctx, c)
}

// zooKeeperConfig is what the lock package wants to know, of what the configuration says.
func zooKeeperConfig(l config.Lock) (zklock.Config, error) {
	c := zklock.Config{
		Servers: l.Servers, Root: l.Root, SessionTimeout: l.SessionTimeout, ConnectTimeout: l.ConnectTimeout,
		Naming: zklock.Naming(l.Naming),
	}
	if l.AuthFile != "" {
		text, err := os.ReadFile(l.AuthFile)
		if err != nil {
			return c, fmt.Errorf("read lock.auth_file: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		c.Digest = strings.TrimRight(line, "\r")
	}
	if !l.TLS {
		return c, nil
	}
	var err error
	c.TLS, err = zooKeeperTLS(l)
	return c, err
}

// zooKeeperTLS reads the files of certificates.
func zooKeeperTLS(l config.Lock) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CAFile != "" {
		pem, err := os.ReadFile(l.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read lock.ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read lock.ca_file: no certificate in %s", l.CAFile)
		}
	}
	if l.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(l.CertFile, l.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read lock.cert_file and lock.key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
