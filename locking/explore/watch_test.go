package explore_test

import (
	"fmt"
	"strconv"
	"strings"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// folder is the lock's folder as the server has it: the names of each file in it.
type folder map[uint64][]string

const lockName = "lock"

// watcher looks at the lock's folder before each call.
type watcher struct {
	*monitor
	srv  *simfs.Server
	at   int // the server's changing calls, when it was last seen
	seen folder
}

// watch checks the state before c, and what c is about to do. Nothing moves meanwhile.
func (w *watcher) watch(c simfs.Call) error {
	if n := w.srv.Calls(); w.seen == nil || n != w.at {
		list, err := w.srv.Observer().ReadDir(worldDir)
		if err != nil && !fsys.Gone(err) {
			return err
		}
		w.at, w.seen = n, folder{}
		for _, e := range list {
			w.seen[e.Ino] = append(w.seen[e.Ino], e.Name)
		}
		if err := w.seen.namesAreExpected(); err != nil {
			return err
		}
	}
	if err := w.lockIsSafe(c); err != nil {
		return err
	}
	return viewerIsHarmless(c)
}

// lock returns the file that has the lock's name; 0 for none.
func (f folder) lock() uint64 {
	for ino, names := range f {
		for _, n := range names {
			if n == lockName {
				return ino
			}
		}
	}
	return 0
}

// who returns "host.pid" of the first name of that kind that the file has.
func (f folder) who(ino uint64, kind string) string {
	for _, n := range f[ino] {
		if parts := strings.Split(n, "."); parts[0] == kind && len(parts) == 4 {
			return parts[1] + "." + parts[2]
		}
	}
	return ""
}

// expected are the sets of names that a file of the folder may have at any moment, by
// kind: the table of links in lockfile's package comment, and what crashes leave of it.
var expected = map[string]bool{
	"claim": true, "claim lock": true, "claim second": true,
	"lock": true, "second": true, // the claim went with its owner's release or failure
	"tk": true, "ticket tk": true, "ticket": true,
}

// namesAreExpected compares the folder with the table.
func (f folder) namesAreExpected() error {
	for ino, names := range f {
		kinds, silly := "", false
		for _, n := range names { // in name order
			kind, _, _ := strings.Cut(n, ".")
			silly = silly || kind == ""
			kinds += " " + kind
		}
		if !silly && !expected[kinds[1:]] {
			return fmt.Errorf("file %d has the names %v", ino, names)
		}
	}
	return nil
}

// lockIsSafe: while a lease stands, the lock is on its claim, whatever refreshes and
// examinations do (S6); the lock changes away from a claim only by its owner or over
// one whose lease is over (S5), and only by whoever has the ticket for it (S4).
func (w *watcher) lockIsSafe(c simfs.Call) error {
	f, holding := w.seen, w.holding()
	owner := f.who(f.lock(), "claim")
	for _, h := range holding {
		if h != owner {
			return fmt.Errorf("S6: %s holds the lock, whose name is on %q", h, owner)
		}
	}
	if c.Name != worldDir+"/"+lockName || c.Op != "remove" && c.Op != "rename" || f.lock() == 0 {
		return nil
	}
	host, _, _ := strings.Cut(owner, ".")
	if c.Op == "remove" && owner != "" && host != c.Host {
		return fmt.Errorf("S5: %s is about to remove the lock of %s", c.Host, owner)
	}
	if c.Op == "rename" && len(holding) > 0 {
		return fmt.Errorf("S5: %s is about to break the lock of %s, who holds it", c.Host, owner)
	}
	winner, err := f.ticket(w.srv)
	if err == nil && winner != c.Host {
		err = fmt.Errorf("S4: %s is about to %s the lock of %q, whose ticket %q has", c.Host, c.Op, owner, winner)
	}
	return err
}

// ticket returns the host that has the highest ticket for the present lock.
func (f folder) ticket(srv *simfs.Server) (winner string, err error) {
	data, err := fsys.ReadFile(srv.Observer(), worldDir+"/"+lockName, 4<<10)
	if err != nil {
		return "", err
	}
	_, nonce, _ := strings.Cut(string(data), "\nnonce ")
	nonce, _, _ = strings.Cut(nonce, "\n")
	highest := -1
	for ino, names := range f {
		for _, n := range names {
			num, ok := strings.CutPrefix(n, "ticket."+nonce+".")
			if k, err := strconv.Atoi(num); ok && err == nil && k > highest {
				highest = k
				winner, _, _ = strings.Cut(f.who(ino, "tk"), ".")
			}
		}
	}
	return winner, nil
}

// viewer is the host that only looks.
const viewer = "viewer"

// viewerIsHarmless: whoever looks has no effect in the lock's folder (S9).
func viewerIsHarmless(c simfs.Call) error {
	if c.Host != viewer || !strings.HasPrefix(c.Name, worldDir) {
		return nil
	}
	switch c.Op {
	case "link", "rename", "remove", "mkdir", "touch", "setmtime", "write", "dirtouch", "dirlink", "dirrename":
		return fmt.Errorf("S9: a look calls %s %s", c.Op, c.Name)
	}
	return nil
}
