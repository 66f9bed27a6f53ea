package store

import (
	"fmt"
	"io"
	"os"

	"qrunner/lists"
	"qrunner/locking"
	"qrunner/locking/fsys"
)

// snapshotHead is the first line of a snapshot: what is not a list of things, and
// how many lines of each kind follow. A snapshot is a pure function of the log:
// two hosts that write one at the same record write the same octets.
type snapshotHead struct {
	N           uint64            `json:"n"`
	List        lists.ID          `json:"list"`
	Incarnation string            `json:"incarnation"`
	Changed     uint64            `json:"changed"`
	Grant       locking.Token     `json:"grant,omitempty"`
	Unclean     bool              `json:"unclean,omitempty"`
	NextMember  lists.MemberID    `json:"next_member"`
	PostID      uint64            `json:"post_id,omitempty"`
	Opened      uint64            `json:"opened,omitempty"`
	Overrides   map[string]string `json:"overrides,omitempty"`
	Members     int               `json:"members"`
	Handovers   int               `json:"handovers"`
	Held        int               `json:"held"`
	Seen        int               `json:"seen"`
	Attempts    int               `json:"attempts"`
	Counts      int               `json:"counts,omitempty"`
	Issued      issued            `json:"issued,omitzero"`
	Digest      int               `json:"digest,omitempty"`
	Last        int               `json:"last,omitempty"`
	Digests     uint64            `json:"digests,omitempty"`
	Bounces     int               `json:"bounces,omitempty"`
	Storms      int               `json:"storms,omitempty"`
	Pending     int               `json:"pending,omitempty"`
}

func (s *State) head() snapshotHead {
	return snapshotHead{
		N: s.version, List: s.id, Incarnation: s.incarnation, Changed: s.changed,
		Grant: s.grant, Unclean: s.unclean, NextMember: s.nextMember, PostID: s.postID,
		Opened: s.opened, Overrides: s.overrides,
		Members: s.roster.len(), Handovers: s.handovers.len(), Held: s.held.len(),
		Seen: s.seen.len(), Attempts: s.attempts.len(), Counts: s.counts.len(),
		Issued: s.issued, Digest: s.digest.len(), Last: s.last.len(),
		Digests: s.digests, Bounces: s.bounces.len(), Storms: s.storms.len(),
		Pending: s.pending.len(),
	}
}

// writeSnapshot writes the state.
func writeSnapshot(w io.Writer, s *State) error {
	f := newFramer(w, "snapshot")
	f.line(s.head())
	var buf []byte
	for r := range s.roster.byKey.all() {
		if buf, f.err = appendMember(buf[:0], r.member(), f.err); f.err != nil {
			return f.err
		}
		f.write(append(buf, '\n'))
	}
	lines(f, s.handovers)
	lines(f, s.held)
	lines(f, s.seen)
	lines(f, s.attempts)
	lines(f, s.counts)
	lines(f, s.digest)
	lines(f, s.last)
	lines(f, s.bounces)
	lines(f, s.storms)
	lines(f, s.pending)
	return f.end()
}

func lines[T any](f *framer, items *set[T]) {
	for item := range items.all() {
		f.line(item)
	}
}

// readSnapshot reads the snapshot at record n of generation g. A clean read of
// something else is a *CorruptError; an error of the share stays what it is.
func readSnapshot(f fsys.FS, name string, g generation, n uint64) (*State, error) {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s, err := decodeSnapshot(r)
	if err == nil && (s.version != n || s.id != g.List || s.incarnation != g.Incarnation) {
		err = fmt.Errorf("it is that of list %q, incarnation %q, at record %d", s.id, s.incarnation, s.version)
	}
	if err != nil {
		return nil, damaged(name, err)
	}
	return s, nil
}

func decodeSnapshot(r io.Reader) (*State, error) {
	d, err := newDeframer(r, "snapshot")
	if err != nil {
		return nil, err
	}
	var h snapshotHead
	if err := d.into(&h); err != nil {
		return nil, d.verdict(err)
	}
	s := emptyState(h.List, h.Incarnation)
	s.version, s.changed, s.grant, s.unclean = h.N, h.Changed, h.Grant, h.Unclean
	s.overrides = migrated(h.Overrides)
	s.nextMember, s.postID, s.opened, s.issued, s.digests = h.NextMember, h.PostID, h.Opened, h.Issued, h.Digests
	if err := s.readThings(d, h); err != nil {
		return nil, d.verdict(err)
	}
	if err := d.done(); err != nil {
		return nil, err
	}
	for m := range s.seen.all() {
		s.seenEnd.put(m)
	}
	for c := range s.counts.all() {
		s.countEnd.put(c)
	}
	for b := range s.bounces.all() {
		s.indexBounce(b)
	}
	for p := range s.pending.all() {
		s.pendingBy.put(p.ref())
	}
	return &s, s.counted(h)
}

// migrated are settings under their present names.
func migrated(old map[string]string) map[string]string {
	for name, value := range old {
		if now, v := lists.Migrate(name, value); now != name {
			delete(old, name)
			old[now] = v
		}
	}
	return old
}

func (s *State) readThings(d *deframer, h snapshotHead) error {
	for range h.Members {
		line, err := d.next()
		if err != nil {
			return noEOF(err)
		}
		m, err := parseMember(line)
		if err != nil {
			return err
		}
		s.roster.put(newRow(&m))
	}
	if err := readLines(d, h.Handovers, s.handovers); err != nil {
		return err
	}
	if err := readLines(d, h.Held, s.held); err != nil {
		return err
	}
	if err := readLines(d, h.Seen, s.seen); err != nil {
		return err
	}
	if err := readLines(d, h.Attempts, s.attempts); err != nil {
		return err
	}
	if err := readLines(d, h.Counts, s.counts); err != nil {
		return err
	}
	if err := readLines(d, h.Digest, s.digest); err != nil {
		return err
	}
	if err := readLines(d, h.Last, s.last); err != nil {
		return err
	}
	if err := readLines(d, h.Bounces, s.bounces); err != nil {
		return err
	}
	if err := readLines(d, h.Storms, s.storms); err != nil {
		return err
	}
	return readLines(d, h.Pending, s.pending)
}

// counted confirms that no two lines were about the same thing.
func (s *State) counted(h snapshotHead) error {
	if got := s.head(); got.Members != h.Members || got.Handovers != h.Handovers || got.Held != h.Held ||
		got.Seen != h.Seen || got.Attempts != h.Attempts || got.Counts != h.Counts ||
		got.Digest != h.Digest || got.Last != h.Last || got.Bounces != h.Bounces || got.Storms != h.Storms || got.Pending != h.Pending || h.N == 0 {
		return fmt.Errorf("counts %+v, want %+v", got, h)
	}
	return nil
}

func readLines[T any](d *deframer, n int, into *set[T]) error {
	for range n {
		var item T
		if err := d.into(&item); err != nil {
			return err
		}
		into.put(item)
	}
	return nil
}
