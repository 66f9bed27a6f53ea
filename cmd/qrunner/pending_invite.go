package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"qrunner/lists/memberfile"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

type memberInviteCmd struct {
	List    string   `arg:"" help:"Posting address."`
	Address []string `arg:"" optional:"" help:"Whom to invite."`
	File    string   `help:"More of them, as member import reads them; -: standard input." placeholder:"FILE"`
}

// inviteReport says what became of each.
type inviteReport struct {
	Invited int              `json:"invited"`
	Refused []memberfile.Bad `json:"refused"`
}

// inviteBatch is how many invitations go out with one commit.
const inviteBatch = 200

// Run sends invitations. Members, who is banned, and who was invited often today are
// reported and passed over.
func (c *memberInviteCmd) Run(ctx context.Context, a *app) error {
	people, bad, err := c.whom(a)
	if err != nil {
		return err
	}
	out := inviteReport{Refused: bad}
	err = a.with(ctx, c.List, "member invite", func(h *house, l *store.Holder) error {
		if err := h.spool.Recover(ctx, l); err != nil {
			return err
		}
		for some := range slices.Chunk(people, inviteBatch) {
			var part inviteReport
			err := h.atDesk(ctx, l, "member invite", func(d subscribe.Desk) (res subscribe.Result, err error) {
				part, res, err = invite(d, some)
				return res, err
			})
			if err != nil {
				return err
			}
			out.Invited, out.Refused = out.Invited+part.Invited, append(out.Refused, part.Refused...)
		}
		h.flushTrace(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	err = a.print(out, func(w io.Writer) {
		for _, r := range out.Refused {
			fmt.Fprintf(w, "%s: %s\n", r.Text, r.Why)
		}
		fmt.Fprintf(w, "%d invited\n", out.Invited)
	})
	if err == nil && len(out.Refused) > 0 {
		err = errSilent
	}
	return err
}

// whom reads addresses from the command line and the file.
func (c *memberInviteCmd) whom(a *app) (people []memberfile.Person, bad []memberfile.Bad, err error) {
	if c.File == "" && len(c.Address) == 0 {
		return nil, nil, &usageError{errors.New("name addresses, or a file of them")}
	}
	bad = []memberfile.Bad{}
	if c.File != "" {
		in, err := a.memberFile(c.File)
		if err != nil {
			return nil, nil, err
		}
		defer in.Close()
		if people, bad, err = memberfile.Read(in, nil); err != nil {
			return nil, nil, err
		}
	}
	for _, addr := range c.Address {
		who, err := parseAddress(addr)
		if err != nil {
			return nil, nil, err
		}
		people = append(people, memberfile.Person{Address: who})
	}
	return people, bad, nil
}

// invite makes one result of several invitations.
func invite(d subscribe.Desk, people []memberfile.Person) (rep inviteReport, out subscribe.Result, err error) {
	for _, m := range people {
		res, err := d.Invite(m.Address, m.Name)
		if err != nil {
			return rep, out, err
		}
		if res.Event != "invited" {
			rep.Refused = append(rep.Refused, memberfile.Bad{Line: m.Line, Text: string(m.Address), Why: res.Reason})
			continue
		}
		if d.State, err = d.State.With(d.At, res.Changes...); err != nil {
			return rep, out, err
		}
		rep.Invited++
		out.Changes, out.Notices = append(out.Changes, res.Changes...), append(out.Notices, res.Notices...)
	}
	out.Event, out.Reason = "invited", fmt.Sprintf("%d invited by %s", rep.Invited, d.By)
	return rep, out, nil
}
