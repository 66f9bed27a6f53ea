package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"qrunner/cmd/qrunner/config"
	"qrunner/lists"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/queue/copies"
	"qrunner/queue/web"
)

// serveWeb opens the door for members, if one is configured.
func (d *daemon) serveWeb(ctx context.Context, g *errgroup.Group) error {
	if d.conf.Web.BaseURL == "" {
		return nil
	}
	if err := d.auth.unsubscribe.Ensure(ctx); err != nil {
		return err
	}
	if d.conf.Web.Listen == "" {
		return nil
	}
	proxies, err := config.ParseProxies(d.conf.Web.Proxies)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", d.conf.Web.Listen)
	if err != nil {
		return fmt.Errorf("listen for web pages: %w", err)
	}
	g.Go(func() error {
		return web.Serve(ctx, l, web.Config{
			Base: d.conf.Web.BaseURL, Read: d.store.Read, Member: d.auth.unsubscribe.Check, Put: d.spool.Put, Wake: d.runner.Wake,
			Proxies: proxies, Clock: time.Now, Log: d.log,
		})
	})
	d.log.Info("listening", "protocol", "web", "address", l.Addr().String())
	if d.listening != nil {
		d.listening("web", l.Addr().String())
	}
	return nil
}

// copies makes the copies of posts that differ.
func (h *house) copies() copies.Config {
	return copies.Config{
		Web: h.conf.Web.BaseURL, Keys: h.auth.authority.Copier,
		List: func(ctx context.Context, id lists.ID) (*lists.List, error) {
			st, err := h.store.Read(ctx, id)
			if err != nil {
				return nil, err
			}
			return st.List(), nil
		},
		Unsubscribe: func(ctx context.Context, l *lists.List) (func(lists.MemberID) string, error) {
			key, err := h.auth.unsubscribe.Key(ctx, l)
			if err != nil {
				return nil, err
			}
			return func(m lists.MemberID) string {
				return oneclick.URL(h.conf.Web.BaseURL, l.ID, key.Token(m, time.Now()))
			}, nil
		},
	}
}

type webCmd struct {
	Rotate webRotateCmd `cmd:"" name:"rotate-key" help:"Make a new secret for unsubscribe links; those in mail that is out stay good for 120 days."`
}

type webRotateCmd struct{}

// Run makes a secret. Every host uses it within a few minutes.
func (c *webRotateCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	return h.auth.unsubscribe.Rotate(ctx)
}
