package main

import (
	"context"
	"fmt"
	"net"
	"os/user"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"qrunner/queue/intake"
)

// listen opens every door before it serves any, so that a wrong address is an error
// at start.
func (d *daemon) listen(ctx context.Context, g *errgroup.Group) error {
	type door struct {
		kind, addr string
		serve      func(context.Context, net.Listener) error
	}
	var doors []door
	for _, addr := range d.conf.LMTP.Listen {
		doors = append(doors, door{"lmtp", addr, d.intake.ServeLMTP})
	}
	for _, addr := range d.conf.SMTP.Listen {
		doors = append(doors, door{"smtp", addr, d.intake.ServeSMTP})
	}
	var open []net.Listener
	for _, dr := range doors {
		ep, err := d.endpoint(dr.addr)
		if err == nil {
			var l net.Listener
			if l, err = intake.Listen(ctx, ep); err == nil {
				open = append(open, l)
				continue
			}
		}
		for _, l := range open {
			_ = l.Close()
		}
		return fmt.Errorf("listen on %s %s: %w", dr.kind, dr.addr, err)
	}
	for i, dr := range doors {
		g.Go(func() error { return dr.serve(ctx, open[i]) })
		d.log.Info("listening", "protocol", dr.kind, "address", open[i].Addr().String())
		if d.listening != nil {
			d.listening(dr.kind, open[i].Addr().String())
		}
	}
	return nil
}

func (d *daemon) endpoint(addr string) (intake.Endpoint, error) {
	ep := intake.Endpoint{Addr: addr, UID: -1, GID: -1}
	if !strings.HasPrefix(addr, "unix:") {
		return ep, nil
	}
	mode, err := strconv.ParseUint(d.conf.LMTP.SocketMode, 8, 16)
	if err != nil {
		return ep, fmt.Errorf("socket mode: %w", err)
	}
	ep.Mode = modeBits(mode)
	if d.conf.LMTP.SocketOwner == "" {
		return ep, nil
	}
	name, group, _ := strings.Cut(d.conf.LMTP.SocketOwner, ":")
	if name != "" {
		ep.UID, ep.GID, err = lookup(name, group)
		return ep, err
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return ep, err
	}
	ep.GID, err = strconv.Atoi(g.Gid)
	return ep, err
}
