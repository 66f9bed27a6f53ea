package fanout

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// maxShown bounds the recipients that a report names.
const maxShown = 50

// report tells the list's owners who did not get a post in this round, once, and the
// poster if a mail system refused the post itself. Notices are reported to nobody, or an
// undeliverable report would beget the next.
func (c *claim) report(ctx context.Context, ends []record, told int) error {
	k := c.kid(queue.Virgin, "report "+roundName(c.view.round), &queue.Entry{})
	if !c.fan.Bulk || c.reported(k) {
		return nil
	}
	f, err := c.failures(ctx, ends)
	if err != nil {
		return err
	}
	m := message.Parse(c.fan.Raw)
	vars := templates.Vars{
		"count": strconv.Itoa(told), "subject": oneLine(message.DecodeHeader(m.Get("Subject"))), "message_id": oneLine(m.Get("Message-ID")),
		"data": strings.TrimRight(strings.Join(f.lines, ""), "\n"),
	}
	if more := told - len(f.lines); more > 0 {
		vars["more"] = strconv.Itoa(more)
	}
	owner := mailaddr.Address(c.unit.list.Address(lists.SubOwner))
	if err := c.notice(ctx, k, templates.AdminUndelivered, vars, owner); err != nil {
		return err
	}
	k.entry.Meta.Recipients = c.owners(ctx)
	kids := []kid{k}
	if to := c.poster(ctx, m); f.judged > 0 && !to.Null() {
		k := c.kid(queue.Virgin, "poster "+roundName(c.view.round), &queue.Entry{})
		vars["count"], vars["reasons"] = strconv.Itoa(f.judged), f.reply
		if err := c.notice(ctx, k, templates.UserUndelivered, vars, to); err != nil {
			return err
		}
		k.entry.Meta.Recipients = []lists.Recipient{{Kind: lists.KindNotice, Address: to}}
		kids = append(kids, k)
	}
	if err := c.write(ctx, kids); err != nil {
		return err
	}
	var records []record
	for _, k := range kids {
		records = append(records, record{kind: child, text: k.target})
	}
	if err := c.j.commit(records...); err != nil {
		return err
	}
	return c.publish(ctx, kids)
}

// notice fills an entry in with a text for somebody.
func (c *claim) notice(ctx context.Context, k kid, name templates.Name, vars templates.Vars, to mailaddr.Address) error {
	text, err := c.s.c.Text(ctx, c.unit.list, name, vars)
	if err != nil {
		return fmt.Errorf("write notice: %w", err)
	}
	k.entry.Target = lists.Target{List: c.unit.list, Sub: lists.SubOwner}
	k.entry.Raw = notice(c.unit.list, k.entry.ID, c.s.c.Clock(), text, to)
	return nil
}

// poster is who wrote a post, if the list knows him: whose address was forged shall not
// hear of it.
func (c *claim) poster(ctx context.Context, m *message.Message) mailaddr.Address {
	a := author(c.unit.list, m)
	people, err := c.s.c.Roster(ctx, c.unit.list)
	if err != nil || a.Null() {
		return ""
	}
	for _, role := range []lists.Role{lists.RoleMember, lists.RoleOwner, lists.RoleModerator} {
		if _, ok := people.Find(role, a); ok {
			return a
		}
	}
	return ""
}

// author is who wrote a post, as far as its copies say: whom From names, or, where the
// list stands there, whom replies go to; null: nobody but the list, or a program.
func author(list lists.ID, m *message.Message) mailaddr.Address {
	if auto := strings.ToLower(strings.TrimSpace(m.Get("Auto-Submitted"))); auto != "" && auto != "no" {
		return ""
	}
	for _, field := range []string{"From", "Reply-To"} {
		var own []mailaddr.Address
		for _, a := range m.Addresses(field) {
			ours := strings.EqualFold(a.Domain(), list.Domain()) && (a.Key() == list.Posting().Key() || strings.HasPrefix(a.Key(), list.Local()+"-"))
			if !ours {
				own = append(own, a)
			}
		}
		if len(own) == 1 {
			return own[0]
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// reported says whether a former owner of this claim's range journaled the report.
func (c *claim) reported(k kid) bool { return c.tally.children[k.target] }

// owners are the list's owners as they are now. If they cannot be read, the stage
// that sends the report looks them up.
func (c *claim) owners(ctx context.Context) []lists.Recipient {
	people, err := c.s.c.Roster(ctx, c.unit.list)
	if err != nil {
		return nil
	}
	var out []lists.Recipient
	for m := range people.All(lists.RoleOwner) {
		out = append(out, lists.Recipient{Kind: lists.KindOwner, Member: m.ID, Address: m.Address})
	}
	return out
}

// failed is what a report tells.
type failed struct {
	lines  []string // a recipient and what was said of it, for the first maxShown
	judged int      // recipients for whom the message itself was refused
	reply  string   // with what words, the first time
}

// failures finds the recipients that were given up in this fan-out, in the ranges that
// have news of such.
func (c *claim) failures(ctx context.Context, ends []record) (failed, error) {
	var out failed
	for i, end := range ends {
		if end.told == 0 {
			continue
		}
		t, rcpts := c.tally, c.rcpts
		if c.rng == closing {
			var err error
			if t, rcpts, err = c.read(ctx, rangeName(i)); err != nil {
				return failed{}, err
			}
		}
		for k := range t.rcpt {
			p := &t.rcpt[k]
			if p.closed != judged && p.closed != expired {
				continue
			}
			if p.closed == judged {
				if out.judged++; out.reply == "" {
					out.reply = p.reply.String()
				}
			}
			if len(out.lines) < maxShown {
				out.lines = append(out.lines, fmt.Sprintf("%s\n    %s: %s\n", rcpts[k].Address, p.closed, p.reply))
			}
		}
	}
	return out, nil
}

// notice makes a message of ours (RFC 3834 §5: nobody's machine shall answer it).
func notice(from lists.ID, id queue.ID, now time.Time, text templates.Text, to mailaddr.Address) []byte {
	owner := from.Address(lists.SubOwner)
	m := text.Message(mailaddr.Address(owner), to, "auto-generated")
	m.Add("Date", now.Format(time.RFC1123Z))
	m.Add("Message-ID", "<"+string(id)+"@"+owner.Domain()+">")
	return m.Bytes()
}
