package main

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/queue/intake"
	"qrunner/queue/retry"
	"qrunner/queue/smtpout"
)

// newPool is the way to the smarthost, as configured.
func (h *house) newPool() (*smtpout.Pool, error) {
	s := h.conf.Smarthost
	c := smtpout.Config{
		Host: s.Address, Hello: cmp.Or(s.Hello, h.host.Host), TLS: smtpout.TLSMode(s.TLS),
		Username: s.User, MaxConns: s.Connections, MaxRecipients: s.Recipients, MaxMessages: s.Messages, XVERP: s.XVERP,
		Timeouts: smtpout.Timeouts{Greeting: s.Timeout, Mail: s.Timeout, Rcpt: s.Timeout, Dot: 2 * s.Timeout},
		Log:      h.log,
	}
	if s.PasswordFile != "" {
		text, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read smarthost.password_file: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		c.Password = smtpout.Secret(strings.TrimRight(line, "\r"))
	}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read smarthost.ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("smarthost.ca_file %s has no certificate", s.CAFile)
		}
	}
	p, err := smtpout.New(c)
	if err != nil {
		return nil, fmt.Errorf("smarthost: %w", err)
	}
	return p, nil
}

func (h *house) policy() retry.Policy {
	r := h.conf.Retry
	return retry.Policy{First: r.First, Longest: r.Most, GiveUp: r.Expire}
}

func (h *house) intakeLimits() intake.Limits {
	l := h.conf.Limits
	return intake.Limits{
		Message: int64(l.MessageSize), Recipients: l.Recipients, Conns: l.Connections, ConnsPerClient: l.Connections, Idle: l.Idle, Drain: h.conf.Run.Drain,
	}
}

// siteOwner is where mail for the site goes; null if nobody is configured.
func (h *house) siteOwner() mailaddr.Address { return mailaddr.Address(h.conf.Site.Owner) }

func modeBits(m uint64) fs.FileMode { return fs.FileMode(m).Perm() }
