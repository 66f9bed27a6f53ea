package fanout

import (
	"context"
	"errors"
	"path"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// walker looks what there is in out/ and retry/. It runs in one goroutine at a time.
type walker struct {
	s       *Sender
	peeked  map[queue.ID]peek
	touched map[string]time.Time // folders, by the time of our last change in them
	clocked time.Time            // when the server's clock was read
	swept   time.Time            // when done/ was looked at
	failed  map[queue.Name]time.Time
}

// peek is what the scheduler must know of an entry.
type peek struct {
	notice bool
	ranges int
}

// How often a folder is touched before it is listed (a listing on NFS v3 can hide a
// name until then), done/ is looked at, the server's clock is read, and how many
// entries one walk reads for the first time.
const (
	touchEvery = 30 * time.Second
	sweepEvery = 30 * time.Second
	clockEvery = 10 * time.Minute
	maxPeeks   = 200
)

func newWalker(s *Sender) *walker {
	return &walker{s: s, peeked: map[queue.ID]peek{}, touched: map[string]time.Time{}, failed: map[queue.Name]time.Time{}}
}

// walk brings back what is due, cleans up, and lists what there is to send.
func (w *walker) walk(ctx context.Context) []look {
	if time.Since(w.clocked) > clockEvery {
		w.note(ctx, queue.Out, w.readClock())
	}
	w.note(ctx, queue.Out, w.s.pay())
	w.note(ctx, queue.Retry, w.due(ctx))
	if time.Since(w.swept) > sweepEvery {
		w.swept = time.Now()
		w.note(ctx, queue.Out, w.sweep(ctx))
	}
	var out []look
	dirs, err := w.list("queue/" + string(queue.Out))
	w.note(ctx, queue.Out, err)
	budget := maxPeeks
	seen := map[queue.ID]bool{}
	for _, d := range dirs {
		id, err := lists.ParseID(d.Name)
		if d.Name == string(lists.Site) {
			id, err = lists.Site, nil
		}
		if err != nil || ctx.Err() != nil {
			continue
		}
		l, err := w.look(ctx, id, seen, &budget)
		w.note(ctx, queue.Out, err)
		if err == nil && len(l.notices)+len(l.posts) > 0 {
			out = append(out, l)
		}
	}
	w.forget(seen)
	return out
}

// calm is how long a trouble must be over before its return is news.
const calm = time.Minute

// note logs trouble, one line for each episode; the next walk tries again.
func (w *walker) note(ctx context.Context, q queue.Name, err error) {
	if err == nil || ctx.Err() != nil || errors.Is(err, errMoved) {
		return
	}
	last, known := w.failed[q]
	w.failed[q] = time.Now()
	if !known || time.Since(last) > calm {
		w.s.c.Log.WarnContext(ctx, "walk queue", "queue", q, "err", err)
	}
}

// list lists a folder; one that is not there is empty.
func (w *walker) list(dir string) ([]fsys.DirEntry, error) {
	d, err := w.s.c.FS.OpenDir(dir)
	if fsys.Gone(err) && path.Dir(dir) == "queue" && time.Since(w.touched[dir]) > touchEvery {
		// A client may remember, on v3 for ever, that it was not there: an attempt to
		// make it heals that.
		w.touched[dir] = time.Now()
		if err = fsys.MkdirAll(w.s.c.FS, dir); err == nil {
			d, err = w.s.c.FS.OpenDir(dir)
		}
	}
	if fsys.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if time.Since(w.touched[dir]) > touchEvery {
		if err := d.Touch(); err != nil && !fsys.Gone(err) {
			return nil, err
		}
		w.touched[dir] = time.Now()
	}
	list, err := d.ReadDir()
	if fsys.Gone(err) {
		return nil, nil
	}
	return list, err
}

// look lists one list's fan-outs, and reads the newest of those not read yet: a
// notice overtakes posts once it is known to be one.
func (w *walker) look(ctx context.Context, list lists.ID, seen map[queue.ID]bool, budget *int) (look, error) {
	l := look{list: list, ranges: map[queue.ID]int{}}
	entries, err := w.list("queue/" + string(queue.Out) + "/" + string(list))
	if err != nil {
		return l, err
	}
	ids := make([]queue.ID, 0, len(entries))
	for _, e := range entries {
		if id, err := queue.ParseID(e.Name); err == nil {
			ids = append(ids, id)
			seen[id] = true
		}
	}
	for i := len(ids) - 1; i >= 0 && *budget > 0 && ctx.Err() == nil; i-- {
		if _, known := w.peeked[ids[i]]; !known {
			*budget--
			w.peek(ctx, unit{list, ids[i]})
		}
	}
	for _, id := range ids {
		switch p := w.peeked[id]; {
		case p.notice:
			l.notices = append(l.notices, id)
		default:
			l.posts = append(l.posts, id)
			if p.ranges > 1 {
				l.ranges[id] = p.ranges
			}
		}
	}
	return l, nil
}

// peek reads an entry for the first time. What is wrong with it, its turn will tell.
func (w *walker) peek(ctx context.Context, u unit) {
	fan, all, err := spool.ReadFanout(ctx, w.s.c.FS, u.dir())
	if err != nil {
		return
	}
	size := w.s.c.BatchSize
	w.s.known.with(u.id, func(e *entry) { e.count = all.Len() })
	w.peeked[u.id] = peek{notice: !fan.Bulk, ranges: (all.Len() + size - 1) / size}
}

func (w *walker) forget(seen map[queue.ID]bool) {
	for id := range w.peeked {
		if !seen[id] {
			delete(w.peeked, id)
		}
	}
	w.s.known.keep(seen)
	for dir, at := range w.touched {
		if time.Since(at) > 10*touchEvery {
			delete(w.touched, dir)
		}
	}
}

// due brings back the fan-outs whose time has come.
func (w *walker) due(ctx context.Context) error {
	entries, err := w.list("queue/" + string(queue.Retry))
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		at, id, err := spool.ParseRetryName(e.Name)
		if err != nil {
			continue
		}
		if at.After(w.s.time.now()) || ctx.Err() != nil {
			break // names sort by time
		}
		if err := w.s.pickUp(ctx, e.Name, id); err != nil && !errors.Is(err, errMoved) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sweep finishes the deletion of what a crash left in done/.
func (w *walker) sweep(ctx context.Context) error {
	entries, err := w.list(doneDir)
	if err != nil {
		return err
	}
	dirs := make([]string, len(entries))
	for i, e := range entries {
		dirs[i] = doneDir + "/" + e.Name
	}
	return w.s.clear(ctx, dirs...)
}

// readClock reads the server's clock.
func (w *walker) readClock() error {
	f, name, _, err := w.s.create("clock")
	if err != nil {
		return err
	}
	w.clocked = time.Now()
	return errors.Join(f.Close(), w.s.c.FS.Remove(name))
}
