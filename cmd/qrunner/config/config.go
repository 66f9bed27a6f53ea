// Package config reads qrunner's YAML file: strict keys, line numbers in errors, and
// a default for everything. It only says what is wanted; package main hands each
// part to the package it is for.
package config

import "time"

// Config is the whole file. Example prints it with the docs that stand here.
type Config struct {
	Var       string            `yaml:"var" doc:"The share: the directory tree that all hosts have in common, usually on NFS."`
	Host      string            `yaml:"host" doc:"This host's name in lock files, entry names and logs; empty: the system's. No two hosts may have the same."`
	Domain    string            `yaml:"domain" doc:"Mail domain of lists that an old alias names without one (deliver post ant); empty: the name must be unique."`
	User      string            `yaml:"user" doc:"When started as root, run as this user (root is a stranger on an export with root_squash); empty: stay and warn."`
	Group     string            `yaml:"group" doc:"The group to run as; empty: the user's own."`
	Umask     string            `yaml:"umask" doc:"File creation mask, octal. Group members share the tree with 007."`
	Site      Site              `yaml:"site" doc:"Who answers for this installation."`
	Lock      Lock              `yaml:"lock" doc:"What keeps hosts apart."`
	LMTP      LMTP              `yaml:"lmtp" doc:"Intake from an MTA on LMTP (RFC 2033), the recommended way."`
	SMTP      SMTP              `yaml:"smtp" doc:"Intake on SMTP: one recipient per transaction."`
	Limits    Limits            `yaml:"limits" doc:"What intake takes."`
	Smarthost Smarthost         `yaml:"smarthost" doc:"The MTA that list mail is handed to."`
	Run       Run               `yaml:"run" doc:"The daemon."`
	Retry     Retry             `yaml:"retry" doc:"When temporary refusals are tried again (RFC 5321 section 4.5.4.1)."`
	Status    Status            `yaml:"status" doc:"Metrics and health over HTTP."`
	Web       Web               `yaml:"web" doc:"Pages for members, over HTTP: one-click unsubscription (RFC 8058) and confirming by a link."`
	Settings  map[string]string `yaml:"settings" doc:"List settings for the whole site, by name: see 'qrunner list show'."`
	Domains   map[string]Domain `yaml:"domains" doc:"List settings per mail domain: they win over the site's."`
	Log       Log               `yaml:"log" doc:"Logs go to standard error."`
}

// Site says who answers for the installation.
type Site struct {
	Owner string `yaml:"owner" doc:"Address that gets mail for postmaster@ and abuse@ of list domains, and alerts. Needed before mail for them is accepted."`
}

// Lock chooses and tunes the lock.
type Lock struct {
	Backend          string        `yaml:"backend" doc:"lockfile (on the share, needs nothing else) or zookeeper."`
	Lifetime         time.Duration `yaml:"lifetime" doc:"A list's lock that was not refreshed for so long may be broken. Refreshed at every fifth of it."`
	DeliveryLifetime time.Duration `yaml:"delivery_lifetime" doc:"The same for deliveries, which cannot be recalled."`
	Slop             time.Duration `yaml:"slop" doc:"Added to a lifetime before a lock is broken."`
	LocalDir         string        `yaml:"local_dir" doc:"Folder on this host's own disk for the advisory lock that keeps its processes from crowding the share; empty: none."`
	Servers          []string      `yaml:"servers" doc:"zookeeper: host:port of each server."`
	Root             string        `yaml:"root" doc:"zookeeper: the node below which locks are kept."`
	SessionTimeout   time.Duration `yaml:"session_timeout" doc:"zookeeper: a host that is silent for so long loses its locks."`
	ConnectTimeout   time.Duration `yaml:"connect_timeout" doc:"zookeeper: commands that need a lock, and the start, wait for the servers no longer."`
	TLS              bool          `yaml:"tls" doc:"zookeeper: talk TLS to the servers (their secureClientPort)."`
	CAFile           string        `yaml:"ca_file" doc:"zookeeper: PEM file with the authorities for the servers' certificates; empty: the system's."`
	CertFile         string        `yaml:"cert_file" doc:"zookeeper: PEM file with this host's certificate, where the servers ask for one; empty: none."`
	KeyFile          string        `yaml:"key_file" doc:"zookeeper: PEM file with the key of cert_file."`
	AuthFile         string        `yaml:"auth_file" doc:"zookeeper: file with one line 'user:password' for digest authentication; empty: none."`
	Naming           string        `yaml:"naming" doc:"zookeeper: names of the lock nodes: qrunner, or kazoo to share locks with kazoo's Lock, ReadLock and WriteLock."`
}

// LMTP is the LMTP listener.
type LMTP struct {
	Listen      []string `yaml:"listen" doc:"Where to listen: unix:/path or host:port. Not port 25 (RFC 2033 section 5)."`
	SocketMode  string   `yaml:"socket_mode" doc:"Permission bits of unix sockets, octal."`
	SocketOwner string   `yaml:"socket_owner" doc:"user or user:group that owns unix sockets; empty: whoever started qrunner."`
}

// SMTP is the SMTP listener.
type SMTP struct {
	Listen []string `yaml:"listen" doc:"Where to listen: host:port. Empty: no SMTP intake."`
}

// Limits bounds intake.
type Limits struct {
	MessageSize Size          `yaml:"message_size" doc:"Larger mail is refused (552 5.3.4, exit 65)."`
	Recipients  int           `yaml:"recipients" doc:"Recipients per LMTP transaction."`
	Connections int           `yaml:"connections" doc:"Connections at the same time, LMTP and SMTP together."`
	Idle        time.Duration `yaml:"idle" doc:"A client that is silent for so long is hung up on (RFC 5321 section 4.5.3.2.7: 5 minutes)."`
	Pipe        time.Duration `yaml:"pipe" doc:"'qrunner deliver' gives up after so long with exit 75; keep it below the MTA's limit (Postfix: 1000s)."`
}

// Smarthost is where mail goes.
type Smarthost struct {
	Address      string        `yaml:"address" doc:"host:port; several, separated by commas, are tried in order."`
	Hello        string        `yaml:"hello" doc:"Name in EHLO; empty: the host's name."`
	TLS          string        `yaml:"tls" doc:"none, may (STARTTLS where offered, verified only with a user), require (STARTTLS, verified), implicit (TLS from the start, verified)."`
	CAFile       string        `yaml:"ca_file" doc:"Certificates to verify with; empty: the system's."`
	User         string        `yaml:"user" doc:"For SMTP AUTH; empty: none."`
	PasswordFile string        `yaml:"password_file" doc:"File whose first line is the password for user."`
	Connections  int           `yaml:"connections" doc:"Connections at the same time from this host."`
	Recipients   int           `yaml:"recipients" doc:"Recipients per transaction."`
	Messages     int           `yaml:"messages" doc:"Messages per connection; 0: no limit."`
	Timeout      time.Duration `yaml:"timeout" doc:"How long to wait for an answer; RFC 5321 section 4.5.3.2 asks for 5 minutes, and twice that after the final dot."`
	XVERP        bool          `yaml:"xverp" doc:"Where the smarthost offers Postfix's XVERP, let it make the VERP senders of lists with verp_form readable: then such a post needs one transaction for many recipients. Postfix offers it to smtpd_authorized_verp_clients."`
	Batch        int           `yaml:"batch" doc:"Recipients per claim: hosts share a large post in batches of so many."`
}

// Run tunes the daemon.
type Run struct {
	Slice     time.Duration `yaml:"slice" doc:"How long a host works on one list before the next has its turn."`
	Poll      time.Duration `yaml:"poll" doc:"How often to look for other hosts' work (jittered). Own intake wakes at once."`
	Workers   int           `yaml:"workers" doc:"Lists worked on at the same time on this host."`
	Heartbeat time.Duration `yaml:"heartbeat" doc:"How often this host shows on the share that it is alive."`
	Traces    time.Duration `yaml:"traces" doc:"How long messages' histories are kept."`
	Drain     time.Duration `yaml:"drain" doc:"At SIGTERM, how long work in hand may take to end."`
}

// Status is the HTTP door for monitoring.
type Status struct {
	Listen string `yaml:"listen" doc:"host:port for /metrics and /healthz; empty: none. There is no access control: keep it on loopback or a management network."`
}

// Web is the HTTP door for members.
type Web struct {
	BaseURL string `yaml:"base_url" doc:"The https URL that members reach the pages at, such as https://lists.example.com/m; it goes into List-Unsubscribe of each copy. Empty: there are no pages, and no copy names one."`
	Listen  string `yaml:"listen" doc:"host:port where this host answers, in plain HTTP: a web server with the certificate passes requests on, path and all. Empty: another host does. Every host of a site can."`
	Proxies string `yaml:"proxies" doc:"Addresses or networks, separated by blanks, of web servers whose X-Forwarded-For is believed, for the rate limit."`
}

// Retry is the schedule of temporary refusals.
type Retry struct {
	First  time.Duration `yaml:"first" doc:"Wait after the first refusal; doubled each time."`
	Most   time.Duration `yaml:"most" doc:"Longest wait between two tries."`
	Expire time.Duration `yaml:"expire" doc:"A recipient refused for so long counts as bounced."`
}

// Domain is the settings of one mail domain.
type Domain struct {
	Settings map[string]string `yaml:"settings" doc:"List settings, by name."`
}

// Log tunes logging.
type Log struct {
	Format string `yaml:"format" doc:"text or json."`
	Level  string `yaml:"level" doc:"debug, info, warn or error."`
}

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		Var:   "/var/lib/qrunner",
		Umask: "007",
		Lock: Lock{
			Backend: "lockfile", Lifetime: 90 * time.Second, DeliveryLifetime: 300 * time.Second, Slop: 10 * time.Second,
			LocalDir: "/run/qrunner", Root: "/qrunner/locks", SessionTimeout: 15 * time.Second, ConnectTimeout: 10 * time.Second, Naming: "qrunner",
		},
		LMTP:      LMTP{Listen: []string{"127.0.0.1:8024"}, SocketMode: "0660"},
		Limits:    Limits{MessageSize: 50 << 20, Recipients: 1000, Connections: 200, Idle: 5 * time.Minute, Pipe: 5 * time.Minute},
		Smarthost: Smarthost{Address: "127.0.0.1:25", TLS: "may", Connections: 8, Recipients: 100, Timeout: 5 * time.Minute, Batch: 1000},
		Run:       Run{Slice: 10 * time.Second, Poll: time.Second, Workers: 4, Heartbeat: 20 * time.Second, Traces: 30 * 24 * time.Hour, Drain: 30 * time.Second},
		Web:       Web{Proxies: "127.0.0.0/8 ::1"},
		Retry:     Retry{First: 5 * time.Minute, Most: 4 * time.Hour, Expire: 5 * 24 * time.Hour},
		Log:       Log{Format: "text", Level: "info"},
	}
}
