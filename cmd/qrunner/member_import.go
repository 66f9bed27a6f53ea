package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/memberfile"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

type memberImportCmd struct {
	List    string `arg:"" help:"Posting address."`
	File    string `arg:"" optional:"" help:"One member a line: ADDRESS, Name <ADDRESS>, or ADDRESS, a tab, and the name; # begins a comment. Missing or -: standard input."`
	Role    string `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
	Welcome bool   `help:"Send them, and the owners, what the list's settings say about who joins."`
}

// importReport says what became of the lines.
type importReport struct {
	Added   int              `json:"added"`
	Known   int              `json:"known"`   // on the roster already: left as they are
	Refused []memberfile.Bad `json:"refused"` // not taken
}

// Run adds everybody who is not on the roster yet. Whoever is there already stays as he
// is: nobody's disabled delivery comes back.
func (c *memberImportCmd) Run(ctx context.Context, a *app) error {
	people, rep, err := a.members(c.File)
	if err != nil {
		return err
	}
	role := lists.Role(c.Role)
	bad := rep.Refused
	err = a.with(ctx, c.List, "member import", func(h *house, l *store.Holder) error {
		for range changeTries {
			fresh, known, refused, err := fresh(memberDesk(l.State(), time.Now()), people, role)
			if err != nil {
				return err
			}
			rep.Known, rep.Refused = known, append(bad[:len(bad):len(bad)], refused...)
			err = rosterWork{h, l, "member import", role}.add(ctx, fresh, c.Welcome, a.std.err)
			if !errors.Is(err, store.ErrFenced) {
				rep.Added = len(fresh)
				return err
			}
		}
		return store.ErrFenced
	})
	if err != nil {
		return fmt.Errorf("import into %s: %w", c.List, err)
	}
	err = a.print(rep, func(w io.Writer) {
		sayRefused(w, rep.Refused)
		fmt.Fprintf(w, "%d added, %d known already, %d refused\n", rep.Added, rep.Known, len(rep.Refused))
	})
	if err == nil && len(rep.Refused) > 0 {
		return errSilent
	}
	return err
}

// members reads a file of members.
func (a *app) members(file string) ([]memberfile.Person, *importReport, error) {
	in, err := a.memberFile(file)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	debug.SetGCPercent(40) // a million people twice over: rather time than memory
	p := newProgress(a.std.err, "lines read", 0)
	people, bad, err := memberfile.Read(in, p.set)
	p.end()
	return people, &importReport{Refused: bad}, err
}

// memberFile opens a file of members; "" and "-" are standard input.
func (a *app) memberFile(name string) (io.ReadCloser, error) {
	if name == "" || name == "-" {
		return io.NopCloser(a.std.in), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open member file: %w", err)
	}
	return f, nil
}

func sayRefused(w io.Writer, lines []memberfile.Bad) {
	for _, r := range lines {
		fmt.Fprintf(w, "line %d: %q: %s\n", r.Line, r.Text, r.Why)
	}
}

// fresh sorts people out: those who are not on the roster and may be put there, how many
// are on it, and the lines of those who may not be.
func fresh(d subscribe.Desk, people []memberfile.Person, role lists.Role) (out []memberfile.Person, known int, refused []memberfile.Bad, err error) {
	roster := d.State.List().Roster
	for _, p := range people {
		if _, ok := roster.Find(role, p.Address); ok {
			known++
			continue
		}
		m := lists.Member{Address: p.Address, Role: role}
		if why := mayJoin(d, &m); why != nil {
			if !refusal(why) {
				return nil, 0, nil, why
			}
			refused = append(refused, memberfile.Bad{Line: p.Line, Text: string(p.Address), Why: why.Error()})
			continue
		}
		out = append(out, p)
	}
	return out, known, refused, nil
}

// add puts people on the roster by one commit, with the mails about it if told so.
func (w rosterWork) add(ctx context.Context, people []memberfile.Person, mail bool, progress io.Writer) error {
	if len(people) == 0 {
		return nil
	}
	p := newProgress(progress, "add", len(people))
	defer p.end()
	if err := w.list.Import(ctx, by(w.note), asMembers(people, w.role), p.set); err != nil || !mail {
		return err
	}
	return w.tell(ctx, people, subscribe.Desk.Joined)
}

func asMembers(people []memberfile.Person, role lists.Role) iter.Seq[lists.Member] {
	return func(yield func(lists.Member) bool) {
		for _, p := range people {
			if !yield(lists.Member{Address: p.Address, Name: p.Name, Role: role}) {
				return
			}
		}
	}
}

type memberExportCmd struct {
	List string `arg:"" help:"Posting address."`
	Role string `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
}

// Run writes one member a line. With --json every field of every member.
func (c *memberExportCmd) Run(ctx context.Context, a *app) error {
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	all := st.List().Roster.All(lists.Role(c.Role))
	if a.json {
		rows := []*lists.Member{}
		for m := range all {
			rows = append(rows, m)
		}
		return a.print(rows, nil)
	}
	w := bufio.NewWriter(a.std.out)
	for m := range all {
		if m.Name == "" {
			fmt.Fprintln(w, m.Address)
			continue
		}
		fmt.Fprintf(w, "%s <%s>\n", quoteName(m.Name), m.Address)
	}
	return w.Flush()
}

// quoteName writes a display name as a quoted string (RFC 5322 §3.2.4).
func quoteName(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
