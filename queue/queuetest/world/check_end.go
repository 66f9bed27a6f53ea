package world

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// recipients checks who got a message how often.
func (w *World) recipients(msg string, people, gone map[string]bool, copies map[copyOf]int) {
	allowed := w.repeats(msg)
	for a := range people {
		c := copyOf{msg, a}
		n := copies[c]
		w.book.mu.Lock()
		refused := w.book.refused[c]
		w.book.mu.Unlock()
		if w.reads(a) {
			n = w.inDigests(msg, a)
		}
		switch {
		case n == 0 && !gone[a] && !refused:
			w.book.broken("%s did not get %s", a, msg)
		case n > 1+allowed[a]:
			w.book.broken("%s got %s %d times, and the log names %d possible repeats", a, msg, n, allowed[a])
		}
	}
	for c, n := range copies {
		if c.message == msg && !people[c.rcpt] {
			w.book.broken("%s got %s %d times and was not on the roster", c.rcpt, msg, n)
		}
	}
}

// repeats counts the lines of the log that say who may get a message again.
func (w *World) repeats(msg string) map[string]int {
	out := map[string]int{}
	for _, l := range w.Log.Lines("possible repeat") {
		w.book.mu.Lock()
		of := w.book.fans[queue.ID(l.Attrs["entry"])]
		w.book.mu.Unlock()
		if len(of) > 0 && of[0].message == msg {
			out[l.Attrs["rcpt"]]++
		}
	}
	return out
}

// Repeats is how many copies came more than once, and how many the log had announced.
func (w *World) Repeats() (came, announced int) {
	return len(w.Sink.Duplicates()), len(w.Log.Lines("possible repeat"))
}

// order checks that posts were committed as they were taken: whoever was answered before
// another began comes first. What was parked and put back has a new place.
func (w *World) order(l lists.ID, a *audit) {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	back := map[string]bool{}
	for e, fates := range a.fate {
		if slices.Contains(fates, string(queue.Shunt)) {
			back[w.book.entries[e]] = true
		}
	}
	var last *post
	for _, e := range a.order {
		p := w.book.posts[w.book.entries[e]]
		if p == nil || p.attempts != 1 || p.acked.IsZero() || back[p.id] {
			continue
		}
		if last != nil && p.acked.Before(last.began) && len(a.fate[e]) == 1 {
			w.book.wrong = append(w.book.wrong, "list "+string(l)+": "+p.id+" was taken before "+last.id+" and committed after it")
		}
		if last == nil || p.began.After(last.began) {
			last = p
		}
	}
}

// published checks that nothing got into a queue that no log names. Intake's own entries
// and the children of fan-outs have other rules.
func (w *World) published(targets map[string]bool) {
	w.book.mu.Lock()
	var names []string
	for n := range w.book.names {
		names = append(names, n)
	}
	w.book.mu.Unlock()
	for _, n := range names {
		part := strings.Split(n, "/")
		if len(part) != 4 {
			continue // marks, journals, stage, tmp, done, retry
		}
		switch queue.Name(part[1]) {
		case queue.Pipeline, queue.Archive, queue.Out, queue.Shunt, queue.Bad, queue.Digest:
		default:
			continue
		}
		if !targets[n] && !w.moved(part[3], targets) {
			w.book.broken("%s was published, and no log names it", n)
		}
	}
}

// moved reports whether a fan-out was published by a log and has moved since, to shunt
// or back from retry.
func (w *World) moved(id string, targets map[string]bool) bool {
	for _, l := range append([]lists.ID{lists.Site}, w.c.Lists...) {
		if targets[path.Join(spool.Dir(queue.Out, l), id)] {
			return true
		}
	}
	return false
}

// causes checks that whatever is parked says why.
func (w *World) causes(ctx context.Context) {
	for _, name := range w.files("queue/shunt", 1) {
		part := strings.Split(name, "/")
		if st, err := w.Eye.Stat(name); err != nil || st.Mode.IsDir() {
			continue
		}
		s := spool.New(spool.Config{FS: w.Eye, Host: "auditor"})
		e, err := s.Load(ctx, queue.Shunt, lists.ID(part[2]), queue.ID(part[3]))
		switch {
		case err != nil:
			w.book.broken("%s: %v", name, err)
		case e.Meta.Cause == "" || e.Meta.From == "" || e.Meta.Count == 0 || e.Meta.First.IsZero() || e.Meta.Last.IsZero():
			w.book.broken("%s does not say why, where from, how often or when: %+v", name, e.Meta)
		}
	}
}

// Leavings checks that nothing is left once everything is delivered and a day has gone
// by: in tmp, stage, locks. The daemons must be stopped. It takes 25 hours of the
// bubble's time.
func (w *World) Leavings(ctx context.Context) {
	sleep(ctx, leftAge)
	for range 2 { // a grant's sweep comes after its release of other leavings
		for _, l := range append([]lists.ID{lists.Site}, w.c.Lists...) {
			if err := w.housekeeping(ctx, l); err != nil {
				w.book.broken("housekeeping of %s: %v", l, err)
			}
		}
		sleep(ctx, leftAge)
	}
	for _, name := range append(w.under("queue"), w.under("locks")...) {
		part := strings.Split(strings.TrimSuffix(name, "/"), "/")
		folder := strings.HasSuffix(name, "/")
		switch {
		case strings.HasPrefix(part[len(part)-1], ".nfs"): // of a host that died with it open: the client's
			continue
		case part[0] == "locks" && (!folder || part[1] == "out" && len(part) > 2):
		case part[1] == "tmp" && len(part) > 2, part[1] == "done" && len(part) > 2, part[1] == "stage" && len(part) > 3:
		case strings.HasPrefix(part[len(part)-1], "journal."), strings.HasPrefix(part[len(part)-1], "child."):
		default:
			continue
		}
		w.book.broken("left over: %s", name)
	}
}

// under names everything below a folder; folders end in a slash.
func (w *World) under(dir string) (out []string) {
	list, _ := w.Eye.ReadDir(dir)
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if e.Type.IsDir() {
			out = append(append(out, name+"/"), w.under(name)...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// housekeeping is what an idle daemon does for a list sooner or later.
func (w *World) housekeeping(ctx context.Context, l lists.ID) error {
	p, err := w.open(w.Server.Host("janitor"), "janitor")
	if err != nil {
		return err
	}
	defer p.exit()
	h, err := p.store.Lock(ctx, l, "janitor")
	if err != nil {
		return err
	}
	if err := p.spool.Recover(ctx, h); err != nil {
		return err
	}
	if err := p.spool.Release(ctx, h); err != nil {
		return err
	}
	return errors.Join(p.spool.SweepTmp(ctx), p.files.SweepFolders(ctx, "out"))
}
