package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"

	"qrunner/cmd/qrunner/config"
)

// becomeUser sets the umask and, when started as root, changes to the configured
// user: root is a stranger on an export with root_squash.
func becomeUser(c config.Config) error {
	mask, err := strconv.ParseUint(c.Umask, 8, 16)
	if err != nil {
		return fmt.Errorf("umask %q: %w", c.Umask, err)
	}
	unix.Umask(int(mask))
	if os.Getuid() != 0 || c.User == "" {
		return nil
	}
	uid, gid, err := lookup(c.User, c.Group)
	if err != nil {
		return err
	}
	if uid == 0 {
		return nil
	}
	// Supplementary groups first: afterwards the right to change them is gone.
	if err := unix.Setgroups([]int{gid}); err != nil {
		return fmt.Errorf("set groups: %w", err)
	}
	if err := unix.Setgid(gid); err != nil {
		return fmt.Errorf("change to group %d: %w", gid, err)
	}
	if err := unix.Setuid(uid); err != nil {
		return fmt.Errorf("change to user %s: %w", c.User, err)
	}
	return nil
}

// warnRoot tells whoever runs mail through a root process what that means.
func warnRoot(c config.Config, log *slog.Logger) {
	if os.Getuid() == 0 && c.User == "" {
		log.Warn("running as root: set user in the configuration (root_squash makes root a stranger on NFS)")
	}
}

func lookup(name, group string) (uid, gid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fmt.Errorf("user in the configuration: %w", err)
	}
	gidText := u.Gid
	if group != "" {
		g, err := user.LookupGroup(group)
		if err != nil {
			return 0, 0, fmt.Errorf("group in the configuration: %w", err)
		}
		gidText = g.Gid
	}
	uid, err = strconv.Atoi(u.Uid)
	if err != nil {
		return 0, 0, fmt.Errorf("user %s: %w", name, err)
	}
	gid, err = strconv.Atoi(gidText)
	return uid, gid, err
}
