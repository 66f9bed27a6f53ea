package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/memberfile"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

type memberSyncCmd struct {
	List      string `arg:"" help:"Posting address."`
	File      string `arg:"" optional:"" help:"Who shall be on the roster, as for member import. Missing or -: standard input."`
	Role      string `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
	MaxRemove string `help:"Remove at most so many, or such a share. Without it at most 10%, and nobody at all for a file without members." placeholder:"N|N%"`
	DryRun    bool   `help:"Only say what would be done."`
	Welcome   bool   `help:"Send those who are added, and the owners, what the list's settings say about who joins."`
	Goodbye   bool   `help:"The same for those who are removed."`
}

// syncReport says what became of each line of the file, and of the roster.
type syncReport struct {
	Added   []string         `json:"added"`
	Removed []string         `json:"removed"`
	Known   int              `json:"known"`
	Refused []memberfile.Bad `json:"refused"`
	DryRun  bool             `json:"dry_run,omitempty"`

	fresh, gone []memberfile.Person
}

// Run makes the roster what the file says. Who is in both stays as he is. An export that
// went wrong must not empty a list: what would remove more than is allowed changes nothing.
func (c *memberSyncCmd) Run(ctx context.Context, a *app) error {
	most, err := parseShare(c.MaxRemove)
	if err != nil {
		return err
	}
	people, read, err := a.members(c.File)
	if err != nil {
		return err
	}
	var rep *syncReport
	sync := func(h *house, l *store.Holder, st *store.State) error {
		if rep, err = c.compare(st, people); err != nil {
			return err
		}
		rep.Refused = append(read.Refused, rep.Refused...)
		if err := most.allows(len(rep.gone), st.List().Roster.Count(lists.Role(c.Role)), len(people)); err != nil {
			return err
		}
		if c.DryRun {
			return nil
		}
		return c.carryOut(ctx, a, h, l, rep)
	}
	if c.DryRun {
		st, rerr := a.read(ctx, c.List)
		if err = rerr; err == nil {
			err = sync(a.house, nil, st)
		}
	} else {
		err = a.with(ctx, c.List, "member sync", func(h *house, l *store.Holder) error {
			for range changeTries {
				if err := sync(h, l, l.State()); !errors.Is(err, store.ErrFenced) {
					return err
				}
			}
			return store.ErrFenced
		})
	}
	if err != nil {
		return fmt.Errorf("sync %s: %w", c.List, err)
	}
	err = a.print(rep, func(w io.Writer) { rep.say(w) })
	if err == nil && len(rep.Refused) > 0 {
		return errSilent
	}
	return err
}

func (r *syncReport) say(w io.Writer) {
	sayRefused(w, r.Refused)
	for _, who := range r.Added {
		fmt.Fprintf(w, "added\t%s\n", who)
	}
	for _, who := range r.Removed {
		fmt.Fprintf(w, "removed\t%s\n", who)
	}
	fmt.Fprintf(w, "%d added, %d removed, %d known already, %d refused\n", len(r.Added), len(r.Removed), r.Known, len(r.Refused))
	if r.DryRun {
		fmt.Fprintln(w, "nothing was changed: it was a dry run")
	}
}

// compare works out who comes and who goes.
func (c *memberSyncCmd) compare(st *store.State, people []memberfile.Person) (*syncReport, error) {
	role := lists.Role(c.Role)
	rep := &syncReport{Added: []string{}, Removed: []string{}, DryRun: c.DryRun}
	var err error
	if rep.fresh, rep.Known, rep.Refused, err = fresh(memberDesk(st, time.Now()), people, role); err != nil {
		return nil, err
	}
	wanted := make([]string, len(people)) // sorted, a third of what a map needs
	for i, p := range people {
		wanted[i] = p.Address.Key()
	}
	slices.Sort(wanted)
	for m := range st.List().Roster.All(role) {
		if _, ok := slices.BinarySearch(wanted, m.Address.Key()); !ok {
			rep.gone = append(rep.gone, memberfile.Person{Address: m.Address, Name: m.Name})
			rep.Removed = append(rep.Removed, string(m.Address))
		}
	}
	for _, p := range rep.fresh {
		rep.Added = append(rep.Added, string(p.Address))
	}
	return rep, nil
}

// removeBatch is how many removals one commit has.
const removeBatch = 10_000

func (c *memberSyncCmd) carryOut(ctx context.Context, a *app, h *house, l *store.Holder, rep *syncReport) error {
	role := lists.Role(c.Role)
	w := rosterWork{h, l, "member sync", role}
	if err := w.add(ctx, rep.fresh, c.Welcome, a.std.err); err != nil {
		return err
	}
	for part := range slices.Chunk(rep.gone, removeBatch) {
		var changes []store.Change
		for _, p := range part {
			changes = append(changes, store.DelMember{Role: role, Address: p.Address})
		}
		if err := l.Commit(ctx, by("member sync"), changes...); err != nil {
			return err
		}
	}
	if !c.Goodbye || len(rep.gone) == 0 {
		return nil
	}
	return w.tell(ctx, rep.gone, subscribe.Desk.Left)
}

// share bounds how many a sync removes: a number or a percentage; nil: the default.
type share struct {
	n       int
	percent bool
}

// defaultShare is how much of a roster goes without being asked for, in percent.
const defaultShare = 10

func parseShare(s string) (*share, error) {
	if s == "" {
		return nil, nil
	}
	digits, percent := strings.CutSuffix(s, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || percent && n > 100 {
		return nil, &usageError{fmt.Errorf("--max-remove is a number, or a percentage such as 20%%; not %q", s)}
	}
	return &share{n, percent}, nil
}

// allows refuses to remove gone of count members for a file that has so many people.
func (s *share) allows(gone, count, people int) error {
	limit := share{defaultShare, true}
	if s != nil {
		limit = *s
	}
	switch {
	case gone == 0:
		return nil
	case s == nil && people == 0:
		return fmt.Errorf("the file has no members, and all %d would be removed: nothing was changed; --max-remove N allows it", count)
	case limit.percent && gone*100 > limit.n*count, !limit.percent && gone > limit.n:
		return fmt.Errorf("%d of %d would be removed, and at most %s may be: nothing was changed; --max-remove N or N%% allows more, --dry-run shows whom", gone, count, limit)
	}
	return nil
}

// String is the bound as it is written on the command line.
func (s share) String() string {
	if s.percent {
		return strconv.Itoa(s.n) + "%"
	}
	return strconv.Itoa(s.n)
}
