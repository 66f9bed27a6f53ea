package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/templates"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/site"
	"qrunner/queue/spool"
	"qrunner/queue/stage"
	"qrunner/queue/trace"
)

// house is the share with everything that works on it, as one process sees it.
type house struct {
	conf   config.Config
	log    *slog.Logger
	root   *fsys.Root
	fs     fsys.FS
	host   hosts.Identity
	reg    *hosts.Registration // nil: a command, which does not register itself
	locker *lazyLocker
	store  *store.Store
	spool  *spool.Spool
	trace  *trace.Log
	texts  *templates.Set
	auth   auth
	// addresses is what people have set for all lists.
	addresses addressBook
}

// maxCalls bounds the calls to the share that may hang at the same time: a hard
// mount blocks for minutes, and each blocked call holds a thread of the runtime.
const maxCalls = 256

// open reads the configuration and opens the share, once. It fails where the site
// marker is missing: an unmounted share looks like an empty one.
func (a *app) open(ctx context.Context) (*house, error) { return a.openAs(ctx, command) }

// role says whether a process takes its host's name for itself.
type role bool

const (
	command role = false // works beside the daemon, under the same name
	server  role = true  // the daemon: one on each host
)

func (a *app) openAs(ctx context.Context, as role) (*house, error) {
	if a.house != nil {
		return a.house, nil
	}
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	log := a.logger(conf.Log)
	if err := becomeUser(a.configFile, conf); err != nil {
		return nil, err
	}
	if as == server {
		if err := config.CheckFiles(a.configFile, conf); err != nil {
			return nil, err
		}
	}
	h, err := openHouse(ctx, conf, log, as)
	if err != nil {
		return nil, err
	}
	a.house = h
	return h, nil
}

func openHouse(ctx context.Context, conf config.Config, log *slog.Logger, as role) (*house, error) {
	root, err := fsys.Open(conf.Var)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w (run as the user who owns the share, or as root with user: in the configuration)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (is the share mounted? a new one is made by qrunner init)", err)
	}
	h := &house{conf: conf, log: log, root: root, fs: fsys.Limited(root, maxCalls)}
	if err := h.build(ctx, as); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	return h, nil
}

// build makes the parts, from the ground up.
func (h *house) build(ctx context.Context, as role) error {
	if _, err := site.Check(ctx, h.fs); err != nil {
		return fmt.Errorf("check share %s: %w", h.conf.Var, err)
	}
	err := h.identify(ctx, as)
	if err != nil {
		return err
	}
	h.locker = &lazyLocker{open: h.newLocker}
	if as == server {
		if err := h.locker.start(ctx, h.log); err != nil {
			return err
		}
	}
	h.spool = spool.New(spool.Config{FS: h.fs, Host: h.host.Host, Clock: time.Now, Log: h.log})
	h.store = store.Open(store.Config{
		FS: h.fs, Locker: h.locker, Host: h.host.Host, Clock: time.Now, Log: h.log, Levels: h.levels,
		Addresses: h.addresses.find,
	})
	h.addresses.read = h.store.Read
	h.auth = newAuth(h.fs)
	h.texts = &templates.Set{Read: stage.TemplateFiles(h.fs), SiteEmail: h.conf.Site.Owner, Log: h.log}
	h.trace = trace.New(trace.Config{FS: h.fs, Host: h.host.Host, Clock: time.Now, Log: h.log})
	return nil
}

// identify learns who this host is; a server takes the name on the share, so that two
// machines cannot have the same.
func (h *house) identify(ctx context.Context, as role) error {
	self, err := hosts.Self(h.conf.Host)
	if err != nil {
		return fmt.Errorf("learn who this host is: %w", err)
	}
	h.log = h.log.With("host", self.Host)
	registry, err := hosts.New(hosts.Config{FS: h.fs, Self: self, Every: h.conf.Run.Heartbeat, Log: h.log})
	if err != nil {
		return fmt.Errorf("host registration: %w", err)
	}
	if as == command {
		h.host = registry.Known()
		return nil
	}
	if h.reg, err = registry.Register(ctx); err != nil {
		return err
	}
	h.host = h.reg.Identity()
	return nil
}

// levels are the settings below a list's own.
func (h *house) levels(id lists.ID) []lists.Level {
	out := []lists.Level{{Name: "site", Values: h.conf.Settings}}
	if d, ok := h.conf.Domains[id.Domain()]; ok {
		out = append(out, lists.Level{Name: "domain " + id.Domain(), Values: d.Settings})
	}
	return out
}

// flushTrace writes the events of a short command. A trace promises nothing: what
// cannot be written is dropped.
func (h *house) flushTrace(ctx context.Context) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := h.trace.Run(ended); err != nil {
		h.log.Debug("write trace", "err", err)
	}
}

// close gives the host's name back and closes the share.
func (h *house) close(ctx context.Context) error {
	if h.reg != nil {
		if err := h.reg.Close(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, hosts.ErrDouble) {
			h.log.Warn("give the host's name back", "err", err)
		}
	}
	if h.locker != nil {
		h.locker.close()
	}
	return h.root.Close()
}
