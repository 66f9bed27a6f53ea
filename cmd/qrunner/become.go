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
// user: root is a stranger on an export with root_squash. A user that is not there is a
// fault of the configuration, which file names.
func becomeUser(file string, c config.Config) error {
	mask, err := strconv.ParseUint(c.Umask, 8, 16)
	if err != nil {
		return fmt.Errorf("umask %q: %w", c.Umask, err)
	}
	unix.Umask(int(mask))
	if os.Getuid() != 0 || c.User == "" {
		return nil
	}
	uid, gid, err := configUser(file, c)
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

// configUser looks up the configured user.
func configUser(file string, c config.Config) (uid, gid int, err error) {
	if uid, gid, err = lookup(c.User, c.Group); err != nil {
		err = &config.Error{File: file, Key: "user", Err: err, Hint: "make the account on this machine, or name another"}
	}
	return uid, gid, err
}

func lookup(name, group string) (uid, gid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, fmt.Errorf("look up user %s: %w", name, err)
	}
	gidText := u.Gid
	if group != "" {
		g, err := user.LookupGroup(group)
		if err != nil {
			return 0, 0, fmt.Errorf("look up group %s: %w", group, err)
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
