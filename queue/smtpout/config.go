package smtpout

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// TLSMode says when a connection is encrypted.
type TLSMode string

// The modes. The empty mode is TLSMay.
const (
	TLSNone TLSMode = "none"
	// TLSMay uses STARTTLS where announced and goes on in the clear where that does
	// not work; the certificate is looked at only if there are credentials to protect.
	TLSMay TLSMode = "may"
	// TLSRequire uses STARTTLS (RFC 3207), or sends nothing.
	TLSRequire TLSMode = "require"
	// TLSImplicit speaks TLS from the first octet (RFC 8314).
	TLSImplicit TLSMode = "implicit"
)

// Secret is a text that must not reach a log: every way to print it hides it.
type Secret string

// String hides the secret.
func (Secret) String() string { return "[secret]" }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the secret from log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText hides the secret from printed configurations.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// Timeouts are how long to wait for each answer; 0 is the default, which is the
// minimum of RFC 5321 §4.5.3.2 except for Connect.
type Timeouts struct {
	Connect  time.Duration // TCP and TLS handshakes; 30 s
	Greeting time.Duration // the 220, and the answers to EHLO, STARTTLS and AUTH; 5 min
	Mail     time.Duration // the answer to MAIL; 5 min
	Rcpt     time.Duration // the answer to each RCPT; 5 min
	Data     time.Duration // the 354; 2 min
	Block    time.Duration // each block of the message to be taken; 3 min
	Dot      time.Duration // the answer to the final dot; 10 min
}

// Config is what a Pool needs. Only Host must be set.
type Config struct {
	// Host is the smarthost, or several, separated by commas and tried in that
	// order; each may end in ":port", and IPv6 addresses stand in brackets.
	Host string
	// Port is for hosts without one of their own; 25, or 465 with TLSImplicit.
	Port int
	// Hello is our name in EHLO; "localhost" if empty.
	Hello string

	TLS TLSMode
	// NoVerify accepts any certificate.
	NoVerify bool
	// ServerName is the name that the certificate must have; the host's if empty.
	ServerName string
	// RootCAs are who may have signed it; the system's if nil.
	RootCAs *x509.CertPool

	// Username and Password ask for AUTH (RFC 4954), PLAIN or else LOGIN; without it
	// no mail is sent.
	Username string
	Password Secret
	// AuthInClear allows AUTH without TLS.
	AuthInClear bool

	// Dial opens a network connection; a net.Dialer if nil.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// MaxConns is how many connections may be open at once; 8.
	MaxConns int
	// MaxRecipients is how many recipients a transaction should have; 100.
	MaxRecipients int
	// MaxMessages is how many transactions a connection is used for; 0 is no limit,
	// which does no harm where the smarthost has one: see Conn.Send.
	MaxMessages int
	// XVERP lets a smarthost that offers it make the VERP senders of transactions that
	// ask for that.
	XVERP bool
	// IdleTime is how long an unused connection is kept; 30 s.
	IdleTime time.Duration
	Timeouts Timeouts
	Breaker  Breaker
	// Log hears of connections (debug) and of the breaker (warn); silent if nil.
	Log *slog.Logger
}

// Breaker says when a host that does not work is left alone.
type Breaker struct {
	// Failures in a row open the breaker; 5.
	Failures int
	// Pause is the first pause, which doubles with each failed probe up to MaxPause,
	// give or take a quarter; 5 s and 5 min.
	Pause, MaxPause time.Duration
}

// withDefaults fills in what was left zero.
func (c Config) withDefaults() Config {
	c.TLS = cmp.Or(c.TLS, TLSMay)
	if c.Port == 0 && c.TLS == TLSImplicit {
		c.Port = 465
	}
	c.Port = cmp.Or(c.Port, 25)
	c.Hello = cmp.Or(c.Hello, "localhost")
	c.MaxConns = cmp.Or(c.MaxConns, 8)
	c.MaxRecipients = cmp.Or(c.MaxRecipients, 100)
	c.IdleTime = cmp.Or(c.IdleTime, 30*time.Second)
	t := &c.Timeouts
	t.Connect = cmp.Or(t.Connect, 30*time.Second)
	t.Greeting = cmp.Or(t.Greeting, 5*time.Minute)
	t.Mail = cmp.Or(t.Mail, 5*time.Minute)
	t.Rcpt = cmp.Or(t.Rcpt, 5*time.Minute)
	t.Data = cmp.Or(t.Data, 2*time.Minute)
	t.Block = cmp.Or(t.Block, 3*time.Minute)
	t.Dot = cmp.Or(t.Dot, 10*time.Minute)
	c.Breaker.Failures = cmp.Or(c.Breaker.Failures, 5)
	c.Breaker.Pause = cmp.Or(c.Breaker.Pause, 5*time.Second)
	c.Breaker.MaxPause = cmp.Or(c.Breaker.MaxPause, 5*time.Minute)
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// check refuses what cannot work.
func (c Config) check() error {
	switch c.TLS {
	case TLSNone, TLSMay, TLSRequire, TLSImplicit:
	default:
		return fmt.Errorf("smarthost TLS mode %q: not none, may, require or implicit", c.TLS)
	}
	switch {
	case c.MaxConns < 1 || c.MaxRecipients < 1 || c.MaxMessages < 0 || c.Breaker.Failures < 1:
		return errors.New("smarthost limits: too small")
	case strings.ContainsFunc(c.Hello, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("smarthost hello name %q: blank or control character", c.Hello)
	case c.Username == "" && c.Password != "":
		return errors.New("smarthost password without a user name")
	case c.Username != "" && c.TLS == TLSNone && !c.AuthInClear:
		return errors.New("smarthost user name without TLS: passwords in the clear must be allowed expressly")
	}
	return nil
}

// addresses splits Host into dial addresses.
func (c Config) addresses() ([]string, error) {
	var out []string
	for h := range strings.SplitSeq(c.Host, ",") {
		h = strings.TrimSpace(h)
		addr := h
		if _, _, err := net.SplitHostPort(h); err != nil {
			addr = net.JoinHostPort(strings.Trim(h, "[]"), fmt.Sprint(c.Port))
		}
		name, port, err := net.SplitHostPort(addr)
		if err != nil || name == "" || port == "" || strings.ContainsAny(name, " \t/<>@") {
			return nil, fmt.Errorf("smarthost %q: want host or host:port", h)
		}
		out = append(out, addr)
	}
	return out, nil
}
