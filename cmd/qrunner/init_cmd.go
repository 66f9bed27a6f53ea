package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
)

type initCmd struct {
	Force bool `help:"Make the share in a folder that has other files."`
}

// Run makes what is missing and leaves the rest alone: it may be called again.
func (c *initCmd) Run(ctx context.Context, a *app) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	if err := becomeUser(a.configFile, conf); err != nil {
		return err
	}
	if err := makeShare(conf.Var); err != nil {
		return fmt.Errorf("make the share's folder: %w", err)
	}
	root, err := fsys.Open(conf.Var)
	if err != nil {
		return err
	}
	var m site.Marker
	if err = c.refuse(ctx, root); err == nil {
		m, err = site.Init(ctx, root)
	}
	if cerr := root.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("initialise %s: %w", conf.Var, err)
	}
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	err = h.store.Create(ctx, lists.Site, by("init"), siteSettings()...)
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("make the site's own list: %w", err)
	}
	if err := h.auth.unsubscribe.Ensure(ctx); err != nil {
		return err
	}
	return a.print(map[string]any{"share": conf.Var, "site": m.ID, "format": m.Format}, func(w io.Writer) {
		fmt.Fprintf(w, "share %s is ready (site %s, format %d)\n", conf.Var, m.ID, m.Format)
	})
}

// refuse keeps a share out of a folder that is in use for something else.
func (c *initCmd) refuse(ctx context.Context, root fsys.FS) error {
	if c.Force {
		return nil
	}
	others, err := site.Strangers(ctx, root)
	if err != nil || len(others) == 0 {
		return err
	}
	return &dataError{fmt.Errorf("the folder is no share and has other files (%s, for one): name an empty folder with var: in the configuration, or say --force", others[0])}
}

// makeShare makes the top folder if it is missing. It is setgid, so that everything
// below has one group whatever host makes it.
func makeShare(dir string) error {
	err := os.Mkdir(dir, 0o770)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, 0o770|fs.ModeSetgid)
}

// siteSettings makes the site's list a plain hand-through to its owner.
func siteSettings() []store.Change {
	return []store.Change{
		store.SetSetting{Name: "archive_policy", Value: "never"},
		store.SetSetting{Name: "verp_delivery_interval", Value: "0"},
	}
}
