package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
)

type memberImportCmd struct {
	List string `arg:"" help:"Posting address."`
	File string `arg:"" optional:"" help:"One member a line: ADDRESS, or Name <ADDRESS>; # begins a comment. Missing or -: standard input."`
	Role string `help:"member, owner, moderator or nonmember." enum:"member,owner,moderator,nonmember" default:"member"`
}

// importReport says what became of each line.
type importReport struct {
	Added   int            `json:"added"`
	Known   int            `json:"known"` // on the roster already: left as they are
	Refused []importedLine `json:"refused"`
}

type importedLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// Run adds everybody who is not on the roster yet by one commit. Whoever is there
// already stays as he is: nobody's disabled delivery comes back.
func (c *memberImportCmd) Run(ctx context.Context, a *app) error {
	in := a.std.in
	if c.File != "" && c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("open member file: %w", err)
		}
		defer f.Close()
		in = f
	}
	members, rep, err := readMembers(in, lists.Role(c.Role))
	if err != nil {
		return fmt.Errorf("read member file: %w", err)
	}
	err = a.with(ctx, c.List, "member import", func(_ *house, l *store.Holder) error {
		for range changeTries {
			roster := l.State().List().Roster
			rep.Known = 0
			fresh := fresh(members, roster, &rep.Known)
			if len(fresh) == 0 {
				return nil
			}
			p := newProgress(a.std.err, "import", len(fresh))
			err := l.Import(ctx, by("member import"), values(fresh), p.set)
			p.end()
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
		for _, r := range rep.Refused {
			fmt.Fprintf(w, "line %d: %q: %s\n", r.Line, r.Text, r.Why)
		}
		fmt.Fprintf(w, "%d added, %d known already, %d refused\n", rep.Added, rep.Known, len(rep.Refused))
	})
	if err == nil && len(rep.Refused) > 0 {
		return errSilent
	}
	return err
}

func fresh(members []lists.Member, roster lists.Roster, known *int) []lists.Member {
	out := make([]lists.Member, 0, len(members))
	for _, m := range members {
		if _, ok := roster.Find(m.Role, m.Address); ok {
			*known++
			continue
		}
		out = append(out, m)
	}
	return out
}

func values(ms []lists.Member) iter.Seq[lists.Member] {
	return func(yield func(lists.Member) bool) {
		for _, m := range ms {
			if !yield(m) {
				return
			}
		}
	}
}

// readMembers reads one member a line. Byte order marks, CRLF, blank lines and
// comments are no trouble; a line that is repeated counts once.
func readMembers(r io.Reader, role lists.Role) ([]lists.Member, *importReport, error) {
	rep := &importReport{Refused: []importedLine{}}
	var out []lists.Member
	seen := map[string]bool{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimPrefix(sc.Text(), "\ufeff")
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		addr, name, err := mailbox(line)
		if err != nil {
			rep.Refused = append(rep.Refused, importedLine{n, line, err.Error()})
			continue
		}
		if !seen[addr.Key()] {
			seen[addr.Key()] = true
			out = append(out, lists.Member{Address: addr, Name: name, Role: role})
		}
	}
	return out, rep, sc.Err()
}

// mailbox reads ADDRESS or Name <ADDRESS>.
func mailbox(line string) (mailaddr.Address, string, error) {
	if !strings.ContainsAny(line, "<\"") {
		a, err := mailaddr.Parse(line)
		return a, "", err
	}
	list := message.ParseAddressList(line)
	if len(list) != 1 {
		return "", "", fmt.Errorf("%w: not one address", mailaddr.ErrSyntax)
	}
	return list[0].Address, list[0].Name, nil
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
