package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"qrunner/locking/probe"
)

type doctorCmd struct{}

// probeTime is how long the share may take for all checks together.
const probeTime = time.Minute

// Run tries the share out and says what is unfit and the remedy. The exit status is
// 1 if anything is.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(h.conf.Var)
	if err != nil {
		return fmt.Errorf("look for the share: %w", err)
	}
	info, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read mounts: %w", err)
	}
	defer info.Close()
	limited, cancel := context.WithTimeoutCause(ctx, probeTime, fmt.Errorf("the checks took longer than %v", probeTime))
	defer cancel()
	found := append(probe.Mount(info, dir), probe.Share(limited, h.fs, "queue", time.Now)...)
	if h.conf.Lock.Backend == "zookeeper" {
		found = append(found, h.probeZooKeeper(limited)...)
	}
	err = a.print(found, func(w io.Writer) {
		for _, f := range found {
			fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.Check, f.Text)
			if f.Remedy != "" {
				fmt.Fprintf(w, "\t\tremedy: %s\n", f.Remedy)
			}
		}
	})
	for _, f := range found {
		if err == nil && f.Level == probe.Unfit {
			err = errSilent
		}
	}
	return err
}
