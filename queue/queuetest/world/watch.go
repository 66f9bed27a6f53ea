package world

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// watched is a host's file system; the book hears of what gets a name in a queue, and
// of journal lines that are on stable storage.
type watched struct {
	fsys.FS
	b *book
}

func watch(f fsys.FS, host string, b *book) fsys.FS {
	return &watched{fsys.Observed(f, fsys.Hook{Before: func(string, string) error {
		b.call(host)
		return nil
	}, After: func(op, name string, err error) error {
		if err == nil && (op == "rename" || op == "dirrename" || op == "link" || op == "dirlink") {
			b.named(name)
		}
		return err
	}}), b}
}

// OpenFile implements fsys.FS.
func (w *watched) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	rest, ok := strings.CutPrefix(path.Base(name), "journal.")
	if err != nil || !ok || path.Dir(name) != "queue/tmp" {
		return f, err
	}
	part := strings.SplitN(rest, ".", 5) // time.seq.host.random, then range
	if len(part) < 5 {
		return f, err
	}
	return &journal{File: f, b: w.b, id: queue.ID(strings.Join(part[:4], "."))}, nil
}

// journal is a delivery's journal, open on a host.
type journal struct {
	fsys.File
	b  *book
	id queue.ID

	mu   sync.Mutex
	text []byte // not synced yet
}

// Write implements fsys.File.
func (j *journal) Write(p []byte) (int, error) {
	n, err := j.File.Write(p)
	j.mu.Lock()
	j.text = append(j.text, p[:n]...)
	j.mu.Unlock()
	return n, err
}

// Sync implements fsys.File.
func (j *journal) Sync() error {
	j.mu.Lock()
	text := string(j.text)
	j.text = nil
	j.mu.Unlock()
	err := j.File.Sync()
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		// "<checksum> sent 0-2,5 ..."
		if f := strings.Fields(line); len(f) > 2 && f[1] == "sent" {
			j.b.journaled(j.id, numbers(f[2]))
		}
	}
	return nil
}

// numbers reads a set of recipients.
func numbers(set string) (out []int) {
	for part := range strings.SplitSeq(set, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		a, _ := strconv.Atoi(lo)
		z := a
		if ranged {
			z, _ = strconv.Atoi(hi)
		}
		for n := a; n <= z; n++ {
			out = append(out, n)
		}
	}
	return out
}

// fanoutDir finds a fan-out's folder, wherever it is.
func (w *World) fanoutDir(id queue.ID) string {
	for _, l := range append([]lists.ID{lists.Site}, w.c.Lists...) {
		for _, q := range []queue.Name{queue.Out, queue.Shunt} {
			dir := path.Join(spool.Dir(q, l), string(id))
			if _, err := w.Eye.Stat(dir); err == nil {
				return dir
			}
		}
	}
	waiting, _ := w.Eye.ReadDir("queue/retry")
	for _, e := range waiting {
		if strings.HasSuffix(e.Name, "."+string(id)) {
			return "queue/retry/" + e.Name
		}
	}
	return ""
}
