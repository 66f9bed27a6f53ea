package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/hosts"
)

// check refuses values that no part of qrunner could work with.
func (d *decoder) check(c *Config) error {
	for _, row := range []struct {
		key string
		err error
	}{
		{"var", absolute(c.Var)},
		{"host", need(c.Host == "" || hosts.ValidName(c.Host), fmt.Sprintf("%q is no host name: letters, digits, \".\", \"_\" and \"-\", at most 64", c.Host))},
		{"umask", octal(c.Umask)},
		{"site.owner", address(c.Site.Owner)},
		{"lock.backend", oneOf(c.Lock.Backend, "lockfile", "zookeeper")},
		{"lock.servers", need(c.Lock.Backend != "zookeeper" || len(c.Lock.Servers) > 0, "the zookeeper backend needs at least one server")},
		{"lock.naming", oneOf(c.Lock.Naming, "qrunner", "kazoo")},
		{"lock.lifetime", between(c.Lock.Lifetime, time.Second, 24*time.Hour)},
		{"lock.delivery_lifetime", between(c.Lock.DeliveryLifetime, time.Second, 24*time.Hour)},
		{"lock.slop", between(c.Lock.Slop, 0, time.Hour)},
		{"lock.connect_timeout", between(c.Lock.ConnectTimeout, time.Second, 10*time.Minute)},
		{"lock.key_file", need((c.Lock.CertFile == "") == (c.Lock.KeyFile == ""), "cert_file and key_file go together")},
		{"lock.tls", need(c.Lock.TLS || c.Lock.CAFile == "" && c.Lock.CertFile == "", "ca_file and cert_file need tls: true")},
		{"lock.session_timeout", between(c.Lock.SessionTimeout, time.Second, 10*time.Minute)},
		{"lmtp.listen", listenLMTP(c.LMTP.Listen)},
		{"lmtp.socket_mode", octal(c.LMTP.SocketMode)},
		{"smtp.listen", listenTCP(c.SMTP.Listen)},
		{"status.listen", listenStatus(c.Status.Listen)},
		{"web.base_url", baseURL(c.Web.BaseURL)},
		{"web.listen", listenWeb(c.Web)},
		{"web.proxies", proxies(c.Web.Proxies)},
		{"limits.message_size", need(c.Limits.MessageSize >= 1024, "less than 1KB takes no mail at all")},
		{"limits.recipients", need(c.Limits.Recipients >= 100, "RFC 5321 section 4.5.3.1.8 asks for at least 100")},
		{"limits.connections", need(c.Limits.Connections >= 1, "must be at least 1")},
		{"limits.idle", between(c.Limits.Idle, time.Second, time.Hour)},
		{"limits.pipe", between(c.Limits.Pipe, time.Second, 15*time.Minute)},
		{"smarthost.address", reach(split(c.Smarthost.Address))},
		{"smarthost.password_file", need((c.Smarthost.User == "") == (c.Smarthost.PasswordFile == ""), "user and password_file go together")},
		{"smarthost.tls", oneOf(c.Smarthost.TLS, "none", "may", "require", "implicit")},
		{"smarthost.connections", need(c.Smarthost.Connections >= 1, "must be at least 1")},
		{"smarthost.recipients", need(c.Smarthost.Recipients >= 1, "must be at least 1")},
		{"smarthost.batch", need(c.Smarthost.Batch >= 1, "must be at least 1")},
		{"smarthost.timeout", between(c.Smarthost.Timeout, time.Second, time.Hour)},
		{"run.slice", between(c.Run.Slice, 100*time.Millisecond, time.Hour)},
		{"run.poll", between(c.Run.Poll, 10*time.Millisecond, time.Hour)},
		{"run.workers", need(c.Run.Workers >= 1, "must be at least 1")},
		{"run.heartbeat", between(c.Run.Heartbeat, time.Second, time.Hour)},
		{"run.traces", between(c.Run.Traces, time.Hour, 10*365*24*time.Hour)},
		{"run.drain", between(c.Run.Drain, 0, time.Hour)},
		{"retry.first", between(c.Retry.First, time.Second, 24*time.Hour)},
		{"retry.most", need(c.Retry.Most >= c.Retry.First, "must not be shorter than retry.first")},
		{"retry.expire", need(c.Retry.Expire >= c.Retry.Most, "must not be shorter than retry.most")},
		{"log.format", oneOf(c.Log.Format, "text", "json")},
		{"log.level", oneOf(c.Log.Level, "debug", "info", "warn", "error")},
	} {
		if row.err != nil {
			return &Error{File: d.file, Line: d.lines[row.key], Key: row.key, Err: row.err}
		}
	}
	if err := d.settings("settings", c.Settings); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Domains)) {
		if err := d.settings("domains."+name+".settings", c.Domains[name].Settings); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) settings(key string, m map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := lists.CheckSetting(name, m[name]); err != nil {
			full := join(key, name)
			return &Error{File: d.file, Line: d.lines[full], Key: full, Err: err}
		}
	}
	return nil
}

func need(ok bool, remedy string) error {
	if ok {
		return nil
	}
	return errors.New(remedy)
}

func absolute(p string) error { return need(filepath.IsAbs(p), "must be an absolute path") }

func octal(s string) error {
	n, err := strconv.ParseUint(s, 8, 16)
	return need(err == nil && n <= 0o777, fmt.Sprintf("%q is no octal mode such as 007 or 0660", s))
}

func address(s string) error {
	if s == "" {
		return nil
	}
	_, err := mailaddr.Parse(s)
	return err
}

func oneOf(v string, choices ...string) error {
	return need(slices.Contains(choices, v), fmt.Sprintf("%q is none of %s", v, strings.Join(choices, ", ")))
}

func between(v, lo, hi time.Duration) error {
	return need(v >= lo && v <= hi, fmt.Sprintf("%v is not between %v and %v", v, lo, hi))
}

func split(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

func listenStatus(addr string) error {
	if addr == "" {
		return nil
	}
	return listenTCP([]string{addr})
}

func listenTCP(list []string) error {
	for _, a := range list {
		_, port, err := net.SplitHostPort(a)
		if err != nil {
			return fmt.Errorf("%q is not host:port", a)
		}
		if err := portNumber(port); err != nil {
			return fmt.Errorf("%q: %w", a, err)
		}
	}
	return nil
}

// reach checks addresses to connect to: port 0 is for listening only.
func reach(list []string) error {
	for _, a := range list {
		if _, port, err := net.SplitHostPort(a); err == nil && strings.Trim(port, "0") == "" {
			return fmt.Errorf("%q has no port", a)
		}
	}
	return listenTCP(list)
}

// portNumber accepts 0 to 65535 and the names of services that this machine knows.
func portNumber(s string) error {
	if n, err := strconv.Atoi(s); err == nil {
		return need(n >= 0 && n <= 65535, fmt.Sprintf("port %d is not between 0 and 65535", n))
	}
	_, err := net.LookupPort("tcp", s)
	return need(s != "" && err == nil, fmt.Sprintf("%q is no port", s))
}

func listenLMTP(list []string) error {
	for _, a := range list {
		if path, ok := strings.CutPrefix(a, "unix:"); ok {
			if err := absolute(path); err != nil {
				return fmt.Errorf("%q: %w", a, err)
			}
			continue
		}
		_, port, err := net.SplitHostPort(a)
		if err != nil {
			return fmt.Errorf("%q is neither unix:/path nor host:port", a)
		}
		if port == "25" || port == "smtp" {
			return fmt.Errorf("%q: LMTP must not use port 25 (RFC 2033 section 5)", a)
		}
		if err := portNumber(port); err != nil {
			return fmt.Errorf("%q: %w", a, err)
		}
	}
	return nil
}
