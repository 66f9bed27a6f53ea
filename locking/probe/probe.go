// Package probe tries out whether a share can carry locks and queues: it does on it
// what qrunner relies on, and says in words what is unfit and what to do about it.
//
//	for _, f := range probe.Share(ctx, fs, "queue/tmp", time.Now) {
//		fmt.Println(f.Level, f.Check, f.Text)
//	}
package probe

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"time"

	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// Level is how bad a finding is.
type Level string

// The levels. Unfit means that promises are broken; Warn that they hold, at a cost.
const (
	OK    Level = "ok"
	Warn  Level = "warn"
	Unfit Level = "unfit"
)

// Finding is the answer of one check.
type Finding struct {
	Check  string `json:"check"`
	Level  Level  `json:"level"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

func ok(check, format string, args ...any) Finding {
	return Finding{Check: check, Level: OK, Text: fmt.Sprintf(format, args...)}
}

func unfit(check, remedy, format string, args ...any) Finding {
	return Finding{Check: check, Level: Unfit, Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

// trial is a folder of its own on the share, with what the checks need.
type trial struct {
	fs  fsys.FS
	dir string
	now clock.Clock
}

// checks in the order in which people read them; a check that fails does not keep
// the others from running.
var checks = []struct {
	name string
	run  func(*trial) Finding
}{
	{"create", (*trial).create},
	{"link", (*trial).link},
	{"link count", (*trial).linkCount},
	{"inode", (*trial).inode},
	{"rename over", (*trial).renameOver},
	{"server time", (*trial).serverTime},
	{"clock", (*trial).clock},
	{"listing", (*trial).listing},
	{"fsync", (*trial).fsync},
	{"long names", (*trial).longNames},
}

// Share tries out the file system in a folder of its own below dir, which must be
// there, and removes that folder again. now is this host's clock.
func Share(ctx context.Context, f fsys.FS, dir string, now clock.Clock) []Finding {
	t := &trial{fs: f, dir: path.Join(dir, "probe."+rand.Text()), now: now}
	if err := f.Mkdir(t.dir, fsys.DirPerm); err != nil {
		return []Finding{unfit("write", "the qrunner user needs write permission on the share (user:, group: in the configuration)", "cannot make a folder: %v", err)}
	}
	defer t.remove()
	var out []Finding
	for _, c := range checks {
		if ctx.Err() != nil {
			return append(out, unfit(c.name, "the server answers too slowly", "%v", context.Cause(ctx)))
		}
		found := c.run(t)
		found.Check = c.name
		out = append(out, found)
	}
	return out
}

func (t *trial) name(s string) string { return path.Join(t.dir, s) }

// remove takes away everything that the checks made.
func (t *trial) remove() {
	list, err := t.fs.ReadDir(t.dir)
	if err != nil {
		return
	}
	for _, e := range list {
		_ = fsys.RemoveAny(t.fs, t.name(e.Name))
	}
	_ = t.fs.Remove(t.dir)
}

// slow is a call time that people will notice.
const slow = 200 * time.Millisecond
