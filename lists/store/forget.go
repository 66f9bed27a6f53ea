package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
)

// Hide is a text without what is to be forgotten: of the same length, and the same if it
// has nothing of it.
type Hide func(text []byte) []byte

func (hide Hide) in(text []byte) bool { return string(hide(text)) != string(text) }

// Naming are the changes that take an address out of the state: off the roster in every
// role, with its bounces; requests about it; settings that name it, where a line that is
// nothing but the address goes. Held posts, and those that wait for a digest, are not
// among them: they have files.
func (s *State) Naming(a mailaddr.Address, hide Hide) []Change {
	var out []Change
	for _, role := range roles {
		m, ok := s.roster.Find(role, a)
		if !ok {
			continue
		}
		out = append(out, DelMember{Role: role, Address: m.Address})
	}
	for b := range s.bounces.all() {
		if b.Address.Key() == a.Key() {
			out = append(out, DropBounce{Member: b.Member})
		}
	}
	for p := range s.pending.all() {
		if text, err := json.Marshal(p); err == nil && hide.in(text) {
			out = append(out, ClosePending{ID: p.ID})
		}
	}
	for at := range s.attempts.all() {
		if hide.in([]byte(at.Cause)) {
			out = append(out, ClearAttempt{Entry: at.Entry})
		}
	}
	for name, value := range s.overrides {
		if hide.in([]byte(value)) {
			out = append(out, SetSetting{Name: name, Value: without(value, a, hide)})
		}
	}
	slices.SortStableFunc(out, func(x, y Change) int { return strings.Compare(x.Kind(), y.Kind()) }) // settings come out of a map
	return out
}

// without is a setting's value: lines that are the address alone are left out.
func without(value string, a mailaddr.Address, hide Hide) string {
	var keep []string
	for line := range strings.SplitSeq(value, "\n") {
		if !strings.EqualFold(strings.TrimSpace(line), string(a)) {
			keep = append(keep, string(hide([]byte(line))))
		}
	}
	return strings.Join(keep, "\n")
}

// Forget makes the past unreadable: the state as it is now becomes the oldest that can be
// read, all records up to now go, and what the audit trail keeps of them is written anew
// without what hide takes out. What is to be forgotten must be out of the state before.
// Three snapshots are made and the usual collection does the rest, so that hosts which
// read or hold the list meanwhile are as safe as with any other. Errors are those of
// Commit; a Forget that was cut short is done again.
func (h *Holder) Forget(ctx context.Context, by By, hide Hide) error {
	dir := h.gen.dir()
	var first uint64
	for i := range 3 {
		if err := h.Commit(ctx, by); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		if err := h.s.putSnapshot(dir, h.state); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
		if i == 0 {
			first = h.state.version
		}
	}
	h.base = h.state.version
	err := h.s.retell(ctx, dir, first, hide)
	if err == nil {
		err = h.s.collect(ctx, dir)
	}
	if err != nil {
		return fmt.Errorf("forget: list %s: %w", h.id, err)
	}
	return nil
}

// retell writes the history up to a record as one file, and removes those before it.
func (s *Store) retell(ctx context.Context, dir folder, limit uint64, hide Hide) error {
	past, err := s.listNumbers(dir.histories(), true)
	if err != nil {
		return err
	}
	temp := dir.temp("history")
	err = fsys.WriteNew(s.FS, temp, func(w io.Writer) error {
		f := newFramer(w, "history")
		var last uint64
		tell := func(r *Record) error {
			if r.N <= last || !lasting(r) {
				return nil
			}
			last = r.N
			line, err := json.Marshal(anonymous(r, hide))
			if err != nil {
				return err
			}
			f.write(append(hide(line), '\n'))
			return nil
		}
		var end uint64
		for _, n := range past {
			if err := s.readHistory(dir.history(n), tell); err != nil {
				return err
			}
			end = n
		}
		return errors.Join(s.scan(ctx, dir, end+1, limit, tell), f.end())
	})
	if err != nil {
		return err
	}
	defer s.drop(temp)
	if _, err := place(s.FS, temp, dir.history(limit)); err != nil {
		return err
	}
	for _, n := range past {
		if n < limit {
			err = errors.Join(err, fsys.RemoveAny(s.FS, dir.history(n)))
		}
	}
	return err
}

// anonymous is a record without the names and texts that belong to what is hidden.
func anonymous(r *Record, hide Hide) *Record {
	out := *r
	out.Changes = slices.Clone(r.Changes)
	for i, c := range out.Changes {
		if text, err := json.Marshal(c); err != nil || !hide.in(text) {
			continue
		}
		switch c := c.(type) {
		case AddMember:
			c.Member.Name, c.Member.StatusWhy = "", ""
			out.Changes[i] = c
		case SetMember:
			c.Member.Name, c.Member.StatusWhy = "", ""
			out.Changes[i] = c
		case OpenPending:
			c.Pending.Name = ""
			out.Changes[i] = c
		case HoldPost:
			c.Post.From, c.Post.Subject = "", ""
			out.Changes[i] = c
		case AddToDigest:
			c.Post.From, c.Post.Subject = "", ""
			out.Changes[i] = c
		}
	}
	return &out
}

// Folder is where the list's present state is kept, from the share's root.
func (h *Holder) Folder() string { return string(h.gen.dir()) }

// DropFile removes a file of the list's that no state names any more, from below held/ or
// digest/.
func (h *Holder) DropFile(kind, id string) error {
	if err := fsys.RemoveAny(h.s.FS, path.Join(listFolder(h.id), kind, id)); err != nil {
		return fmt.Errorf("list %s: %w", h.id, err)
	}
	return nil
}

// DropDigest takes one post from among those that wait for the next digest.
type DropDigest struct {
	ID string `json:"id"`
}

// Kind implements Change.
func (DropDigest) Kind() string { return "drop_digest" }

func (c DropDigest) check(s *State) error {
	if _, ok := s.digest.get(DigestPost{ID: c.ID}); !ok {
		return fmt.Errorf("digest post %s: %w", c.ID, ErrNoHeld)
	}
	return nil
}

func (c DropDigest) apply(d *draft) { d.digest.del(DigestPost{ID: c.ID}) }
