package fanout

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/queue"
)

// maxShown bounds the recipients that a report names.
const maxShown = 50

// report tells the list's owners who did not get a post in this round, once. Notices
// are reported to nobody, or an undeliverable report would beget the next.
func (c *claim) report(ctx context.Context, ends []record, told int) error {
	about := "report " + roundName(c.view.round)
	k := c.kid(queue.Virgin, about, &queue.Entry{})
	if !c.fan.Bulk || c.reported(k) {
		return nil
	}
	lines, err := c.failures(ctx, ends)
	if err != nil {
		return err
	}
	m := message.Parse(c.fan.Raw)
	var b strings.Builder
	fmt.Fprintf(&b, "A post to %s could not be delivered to %d of its recipients.\n\n", c.unit.list, told)
	fmt.Fprintf(&b, "Subject: %s\nMessage-ID: %s\n\n", m.Get("Subject"), m.Get("Message-ID"))
	b.WriteString(strings.Join(lines, ""))
	if told > len(lines) {
		fmt.Fprintf(&b, "... and %d more\n", told-len(lines))
	}
	e := k.entry
	e.Target = lists.Target{List: c.unit.list, Sub: lists.SubOwner}
	e.Meta.Recipients = c.owners(ctx)
	e.Raw = notice(c.unit.list, e.ID, c.s.c.Clock(), "Undelivered post to "+string(c.unit.list), b.String())
	kids := []kid{k}
	if err := c.write(ctx, kids); err != nil {
		return err
	}
	if err := c.j.commit(record{kind: child, text: k.target}); err != nil {
		return err
	}
	return c.publish(ctx, kids)
}

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

// failures names recipients that were given up in this fan-out, from the ranges that
// have news of such.
func (c *claim) failures(ctx context.Context, ends []record) ([]string, error) {
	var out []string
	for i, end := range ends {
		if end.told == 0 {
			continue
		}
		t, rcpts := c.tally, c.rcpts
		if c.rng == closing {
			var err error
			if t, rcpts, err = c.read(ctx, rangeName(i)); err != nil {
				return nil, err
			}
		}
		for k := range t.rcpt {
			if p := &t.rcpt[k]; p.closed == judged || p.closed == expired {
				out = append(out, fmt.Sprintf("%s\n    %s: %s\n", rcpts[k].Address, p.closed, p.reply))
			}
			if len(out) == maxShown {
				return out, nil
			}
		}
	}
	return out, nil
}

// notice makes a message of ours (RFC 3834 §5: nobody's machine shall answer it).
func notice(from lists.ID, id queue.ID, now time.Time, subject, text string) []byte {
	owner := from.Address(lists.SubOwner)
	m := message.Parse(nil)
	m.Add("From", owner.String())
	m.Add("To", owner.String())
	m.Add("Subject", subject)
	m.Add("Date", now.Format(time.RFC1123Z))
	m.Add("Message-ID", "<"+string(id)+"@"+owner.Domain()+">")
	m.Add("Auto-Submitted", "auto-generated")
	m.Add("MIME-Version", "1.0")
	m.Add("Content-Type", "text/plain; charset=utf-8")
	m.SetBody([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	return m.Bytes()
}

// quiet is how long a trouble must be over before its return is news: longer than
// the longest wait between two tries.
const quiet = 6 * time.Hour

// alerts remembers what the site owner was told.
type alerts struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// news reports whether this is the first word of an episode of trouble.
func (a *alerts) news(about string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, known := a.seen[about]
	a.seen[about] = now
	return !known || now.Sub(last) > quiet
}

// alert tells the site owner of a fault of the smarthost, once per episode: in the
// log, and by a notice. about is what makes two faults the same.
func (s *Sender) alert(ctx context.Context, u unit, about, text string) {
	if !s.alerts.news(about, time.Now()) {
		return
	}
	s.c.Log.ErrorContext(ctx, "site fault", "list", u.list, "entry", u.id, "err", fmt.Errorf("%s", text))
	body := fmt.Sprintf("Host %s: %s\n\nFirst seen with entry %s of list %s. Mail is kept and tried again;\nno member is counted as bouncing for it.\n", s.c.Host, text, u.id, u.list)
	e := &queue.Entry{Queue: queue.Virgin, List: lists.Site}
	e.Target = lists.Target{List: lists.Site, Sub: lists.SubOwner}
	e.Source = "internal"
	e.Raw = notice(u.list, queue.ID(s.random()), s.c.Clock(), "Trouble with the smarthost", body)
	if _, err := s.c.Put(context.WithoutCancel(ctx), e); err != nil {
		s.c.Log.WarnContext(ctx, "put notice to the site owner", "queue", queue.Virgin, "err", err)
		return
	}
	s.c.Published(queue.Virgin, lists.Site)
}
