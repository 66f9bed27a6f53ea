package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// The invariants. Those that can be seen at any time are in Glance; Settle and Leavings
// are for when everything is over.

// Broken lists the promises that were not kept so far.
func (w *World) Broken() []string {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	out := slices.Clone(w.book.wrong)
	for _, v := range w.Sink.Violations() {
		out = append(out, "smarthost: "+v)
	}
	return out
}

// audit is a list's log, read from the beginning.
type audit struct {
	fate    map[queue.ID][]string // entries of in/: what the log says became of them
	order   []queue.ID            // entries of in/, as committed
	targets map[string]bool       // every child that the log names
	wanted  map[string]map[string]bool
	gone    map[string]map[string]bool // by message: who left after its commit
}

// audit reads a list's log and checks its chain.
func (w *World) audit(ctx context.Context, id lists.ID) (*audit, error) {
	a := &audit{fate: map[queue.ID][]string{}, targets: map[string]bool{}, wanted: map[string]map[string]bool{}, gone: map[string]map[string]bool{}}
	st := store.Open(store.Config{FS: w.Eye, Host: "auditor"})
	people := map[string]bool{}
	var fence uint64
	err := st.Records(ctx, id, func(r store.Record) error {
		switch {
		case r.Kind == store.KindFence:
			fence = r.N
		case fence > 0 && uint64(r.Token) != fence:
			w.book.broken("list %s: record %d (%s by %s) is of grant %d and stands under fence %d", id, r.N, r.Kind, r.Host, r.Token, fence)
		}
		for _, c := range r.Changes {
			if c.Kind() == "import_members" {
				w.imported(ctx, st, id, people)
			}
			a.change(w.book, people, c)
		}
		return nil
	})
	return a, err
}

// imported adds an import's members, which stand in a file beside the log. It takes those
// that the list has in the end, and so wants nobody to leave after an import.
func (w *World) imported(ctx context.Context, st *store.Store, id lists.ID, people map[string]bool) {
	state, err := st.Read(ctx, id)
	if err != nil {
		w.book.broken("list %s: %v", id, err)
		return
	}
	for m := range state.List().Roster.All(lists.RoleMember) {
		people[m.Address.String()] = true
	}
}

func (a *audit) change(b *book, people map[string]bool, c store.Change) {
	switch c := c.(type) {
	case store.AddMember:
		people[c.Member.Address.String()] = true
	case store.DelMember:
		delete(people, c.Address.String())
		for msg := range a.wanted {
			if a.gone[msg] == nil {
				a.gone[msg] = map[string]bool{}
			}
			a.gone[msg][c.Address.String()] = true
		}
	case store.OpenHandover:
		for _, p := range c.Handover.Children {
			a.targets[p.Target] = true
		}
		a.handover(b, people, &c.Handover)
	}
}

// handover notes what becomes of a post.
func (a *audit) handover(b *book, people map[string]bool, h *store.Handover) {
	part := strings.Split(h.Entry, "/")
	if part[0] != string(queue.In) && part[0] != string(queue.Pipeline) {
		return
	}
	id := queue.ID(part[2])
	fate := "dropped"
	for _, p := range h.Children {
		switch q := strings.Split(p.Target, "/"); {
		case q[0] == "lists" && q[2] == "held":
			fate = "held"
		case q[0] != "queue":
		case q[1] == string(queue.Archive): // who reads digests alone has no copy in out
			fate = string(queue.Out)
		case q[1] == string(queue.Out), q[1] == string(queue.Shunt), q[1] == string(queue.Bad):
			fate = q[1]
		}
	}
	if part[0] == string(queue.In) {
		a.fate[id] = append(a.fate[id], fate)
		a.order = append(a.order, id)
	}
	if fate == string(queue.Out) {
		a.wanted[b.message(id)] = maps.Clone(people)
	}
}

// message is the identifier of the message in an entry.
func (b *book) message(id queue.ID) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries[id]
}

// Glance checks what must be true at any moment: each post that a client was told is
// stored is in queue/in, or the log says what became of it.
func (w *World) Glance(ctx context.Context) {
	w.book.mu.Lock()
	type stored struct{ id, list string }
	var acked []stored
	byMessage := map[string][]queue.ID{}
	for id, p := range w.book.posts {
		if !p.acked.IsZero() {
			acked = append(acked, stored{id, string(p.list)})
		}
	}
	for e, msg := range w.book.entries {
		byMessage[msg] = append(byMessage[msg], e)
	}
	w.book.mu.Unlock()
	there := map[string]bool{}
	for _, p := range acked { // files first: an entry goes after the log has it
		for _, e := range byMessage[p.id] {
			if _, err := w.Eye.Stat(path.Join("queue/in", p.list, string(e))); err == nil {
				there[p.id] = true
			}
		}
	}
	logs := map[string]*audit{}
	for _, l := range w.c.Lists {
		if a, err := w.audit(ctx, l); err == nil {
			logs[string(l)] = a
		}
	}
	for _, p := range acked {
		known := there[p.id]
		for _, e := range byMessage[p.id] {
			known = known || logs[p.list] == nil || len(logs[p.list].fate[e]) > 0
		}
		if !known {
			w.book.broken("post %s was answered 250 and is neither in queue/in nor in the log", p.id)
		}
	}
}

// Idle lists what is still to be done: nothing, if all is well and time has passed.
func (w *World) Idle() (left []string) {
	for _, q := range []string{"in", "pipeline", "virgin", "archive", "out", "retry", "done"} {
		left = append(left, w.files("queue/"+q, 2)...)
	}
	return left
}

// files lists what is below a folder that is no folder, or lies depth folders deep.
func (w *World) files(dir string, depth int) (out []string) {
	list, err := w.Eye.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range list {
		name := path.Join(dir, e.Name)
		if e.Type.IsDir() && depth > 0 {
			below := w.files(name, depth-1)
			if len(below) == 0 && depth < 2 {
				below = []string{name}
			}
			out = append(out, below...)
			continue
		}
		out = append(out, name)
	}
	return out
}

// Settle checks, when the queues are empty, that everybody got what he was to get.
func (w *World) Settle(ctx context.Context) {
	copies := map[copyOf]int{}
	for c, n := range w.Sink.Copies() {
		copies[copyOf{c.MessageID, c.Recipient}] += n
	}
	targets := map[string]bool{}
	for _, l := range append([]lists.ID{lists.Site}, w.c.Lists...) {
		a, err := w.audit(ctx, l)
		if err != nil {
			w.book.broken("list %s: %v", l, err)
			continue
		}
		maps.Copy(targets, a.targets)
		w.settleList(ctx, l, a, copies)
		w.order(l, a)
	}
	w.published(targets)
	w.causes(ctx)
	for _, id := range w.book.waiting() {
		w.book.broken("post %s was never taken", id)
	}
}

func (w *World) settleList(ctx context.Context, l lists.ID, a *audit, copies map[copyOf]int) {
	once := map[string]string{}
	for e, fates := range a.fate {
		msg := w.message(e)
		for i, f := range fates {
			key := fmt.Sprint(e, " ", i)
			if f == string(queue.Out) && once[msg] != "" {
				w.book.broken("list %s: %s is accepted twice, as %s and as %s", l, msg, once[msg], key)
			}
			if f == string(queue.Out) {
				once[msg] = key
			}
		}
	}
	w.book.mu.Lock()
	var posts []*post
	for _, p := range w.book.posts {
		if p.list == l && !p.acked.IsZero() {
			posts = append(posts, p)
		}
	}
	w.book.mu.Unlock()
	for _, p := range posts {
		if once[p.id] == "" && !w.parked(a, p) {
			w.book.broken("list %s: %s was answered 250 and never accepted", l, p.id)
		}
	}
	if st, err := store.Open(store.Config{FS: w.Eye, Host: "auditor"}).Read(ctx, l); err == nil && len(st.Held()) == 0 {
		w.released(l, a, posts)
	}
	for msg, people := range a.wanted {
		w.recipients(msg, people, a.gone[msg], copies)
	}
}

// released checks that held posts that are held no longer were sent.
func (w *World) released(l lists.ID, a *audit, posts []*post) {
	held := map[string]bool{}
	for e, fates := range a.fate {
		held[w.message(e)] = held[w.message(e)] || fates[len(fates)-1] == "held"
	}
	for _, p := range posts {
		if held[p.id] && a.wanted[p.id] == nil {
			w.book.broken("list %s: %s was held, is held no longer, and was not sent", l, p.id)
		}
	}
}

// parked reports whether a post's last word is shunt, bad or held.
func (w *World) parked(a *audit, p *post) bool {
	for e, fates := range a.fate {
		if w.message(e) == p.id && slices.Contains([]string{"shunt", "bad", "held"}, fates[len(fates)-1]) {
			return true
		}
	}
	return false
}

func (w *World) message(e queue.ID) string { return w.book.message(e) }

// Break notes a promise that a test saw broken.
func (w *World) Break(format string, args ...any) { w.book.broken(format, args...) }

// Calls is how many calls on the share a host has made so far.
func (w *World) Calls(host string) int {
	w.book.mu.Lock()
	defer w.book.mu.Unlock()
	return w.book.calls[host]
}

// Shunted is what is parked.
func (w *World) Shunted() []string { return w.files("queue/shunt", 1) }

// Causes is why what is parked was parked, oldest first.
func (w *World) Causes(ctx context.Context) (out []string) {
	s := spool.New(spool.Config{FS: w.Eye, Host: "auditor"})
	for _, name := range w.Shunted() {
		part := strings.Split(name, "/")
		if e, err := s.Load(ctx, queue.Shunt, lists.ID(part[2]), queue.ID(part[3])); err == nil {
			out = append(out, e.Meta.Cause)
		}
	}
	return out
}

// ListDir is the folder of a list's only incarnation.
func (w *World) ListDir(id lists.ID) string {
	list, _ := w.Eye.ReadDir("lists/" + string(id))
	for _, e := range list {
		if e.Type.IsDir() && len(e.Name) == 16 {
			return path.Join("lists", string(id), e.Name)
		}
	}
	return ""
}

// Overwrite puts other content into a file, as a bad disk does.
func (w *World) Overwrite(name string, data []byte) {
	f, err := w.Eye.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		w.book.broken("overwrite %s: %v", name, err)
	}
}

// Below is what is below a folder: files, and folders that lie depth folders deep.
func (w *World) Below(dir string, depth int) []string { return w.files(dir, depth) }

// Share is a host's view of the share as its processes have it, watched.
func (w *World) Share(host string) fsys.FS { return watch(w.Server.Host(host), host, w.book) }
