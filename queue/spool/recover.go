package spool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking"
	"qrunner/locking/fsys"
)

// Recover finishes what former holders left: first the hand-overs that are open in
// the state, then stage folders of older grants that none of them names. The
// holder calls it after the grant, before it looks at any entry, and again after an
// Attempt whose Commit returned an error and left the lease intact.
func (s *Spool) Recover(ctx context.Context, h *store.Holder) error {
	var open []store.Handover
	for _, ho := range h.State().Handovers() {
		if !s.isDone(h, ho.Entry) {
			open = append(open, ho)
		}
	}
	if len(open) > 0 {
		s.c.Log.InfoContext(ctx, "finishing hand-overs of an earlier grant", "list", h.ID(), "count", len(open))
	}
	if err := s.carryOut(ctx, h, open); err != nil {
		return fmt.Errorf("recover list %s: %w", h.ID(), err)
	}
	if err := s.sweepStage(ctx, h); err != nil {
		return fmt.Errorf("recover list %s: %w", h.ID(), err)
	}
	if !h.Unclean() {
		return nil
	}
	err := errors.Join(s.sweepFiles(ctx, h, heldDir, heldNames), s.sweepFiles(ctx, h, digestDir, digestNames))
	if err != nil {
		return fmt.Errorf("recover list %s: %w", h.ID(), err)
	}
	return nil
}

// stageName is a stage folder's name: whose attempt it is.
type stageName struct {
	incarnation string
	token       locking.Token
	try         uint64
}

// String is "<incarnation>.<token>.<try>".
func (n stageName) String() string {
	return fmt.Sprintf("%s.%d.%d", n.incarnation, n.token, n.try)
}

func parseStage(s string) (stageName, bool) {
	rest, try, ok1 := cutLast(s)
	inc, token, ok2 := cutLast(rest)
	t, err1 := strconv.ParseUint(token, 10, 64)
	k, err2 := strconv.ParseUint(try, 10, 64)
	n := stageName{inc, locking.Token(t), k}
	return n, ok1 && ok2 && err1 == nil && err2 == nil && n.String() == s
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// stageAge is how old, by the server's clock, an attempt must be to be swept. While
// locks keep their promise the tokens alone would do; this is for the day when a
// host that lost its lock unawares fences again, and commits what it staged.
const stageAge = 10 * time.Minute

// sweepStage removes attempts of older grants that no open hand-over names. Such an
// attempt can never be named any more: this grant's fence stands above its token.
// So a sweeper that sleeps and goes on after its own time still does no harm.
// Attempts of another incarnation are left: which of the two is older, no name tells.
func (s *Spool) sweepStage(ctx context.Context, h *store.Holder) error {
	dir := path.Join(root, "stage", string(h.ID()))
	all, err := s.listFresh(dir)
	if err != nil || len(all) == 0 {
		return err
	}
	now, _, err := fsys.ServerNow(s.c.FS, dir)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, ho := range h.State().Handovers() {
		named[path.Base(ho.Stage)] = true
	}
	var errs []error
	for _, e := range all {
		n, ok := parseStage(e.Name)
		if !ok || n.incarnation != h.State().Incarnation() || n.token >= h.Token() || named[e.Name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		errs = append(errs, s.sweepAttempt(ctx, path.Join(dir, e.Name), now))
	}
	return errors.Join(errs...)
}

func (s *Spool) sweepAttempt(ctx context.Context, name string, now time.Time) error {
	st, err := s.c.FS.Stat(name)
	if fsys.Gone(err) || err == nil && now.Sub(st.Mtime) < stageAge {
		return nil
	}
	if err != nil {
		return err
	}
	s.c.Log.InfoContext(ctx, "removing an attempt that came to nothing", "entry", name)
	return removeTree(s.c.FS, name)
}

// removeTree removes a file, or a folder with what is in it; what is gone is no error.
func removeTree(f fsys.FS, name string) error {
	err := f.Remove(name)
	if err == nil || fsys.Gone(err) {
		return nil
	}
	list, lerr := f.ReadDir(name)
	if lerr != nil {
		return err
	}
	for _, e := range list {
		if err := removeTree(f, path.Join(name, e.Name)); err != nil {
			return err
		}
	}
	return fsys.RemoveAny(f, name)
}

// Folders of a list whose files exist only while the state names them.
const (
	heldDir   = "held"
	digestDir = "digest"
)

func listFile(list lists.ID, dir, id string) string {
	return path.Join("lists", string(list), dir, id)
}

// sweepFiles removes files of a list's folder that the state does not name: dropped by
// a commit whose host did not come to remove them. The listing comes before the proof
// that we are still the holder: so what it shows and our state does not name can be
// no successor's.
func (s *Spool) sweepFiles(ctx context.Context, h *store.Holder, folder string, named func(*store.State) map[string]bool) error {
	dir := listFile(h.ID(), folder, "")
	all, err := s.c.FS.ReadDir(dir)
	if fsys.Gone(err) {
		return nil
	}
	if err == nil {
		err = h.Verify(ctx)
	}
	if err != nil {
		return err
	}
	keep := named(h.State())
	var errs []error
	for _, e := range all {
		if keep[e.Name] || strings.HasPrefix(e.Name, ".") {
			continue
		}
		s.c.Log.InfoContext(ctx, "removing a message that the list has no use for any more", "list", h.ID(), "entry", path.Join(dir, e.Name))
		errs = append(errs, fsys.RemoveAny(s.c.FS, path.Join(dir, e.Name)))
	}
	return errors.Join(errs...)
}

func heldNames(st *store.State) map[string]bool {
	out := map[string]bool{}
	for _, p := range st.Held() {
		out[p.ID] = true
	}
	return out
}

func digestNames(st *store.State) map[string]bool {
	out := map[string]bool{}
	for _, p := range st.Digest().Posts {
		out[p.ID] = true
	}
	return out
}
