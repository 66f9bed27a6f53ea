package stage

import (
	"context"
	"strconv"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/bounces/score"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// tellOf writes to the member and to the owners about an act; why is the last bounce.
func (b *bouncing) tellOf(ctx context.Context, m *lists.Member, a score.Act, r score.Record, why string) error {
	set, about := b.st.List().Settings, templates.Vars{"member": m.Address.String(), "score": r.Score.String(), "reasons": why}
	var toMember, toOwners templates.Name
	switch a {
	case score.Probe:
		toMember = templates.UserProbe
	case score.Warn:
		toMember = templates.UserWarning
	case score.Disable:
		if r.Warned > 0 {
			toMember = templates.UserWarning
		}
		if set.Bool("bounce_notify_owner_on_disable") {
			toOwners = templates.AdminDisable
		}
		if r.Complained() {
			toMember, toOwners = forComplaint(r, toMember, toOwners)
			about["action"] = score.ComplaintDisable
		}
	case score.Remove:
		toMember = templates.UserGoodbye
		if set.Bool("bounce_notify_owner_on_removal") {
			toOwners = templates.AdminRemoval
			if r.Complained() {
				toOwners, about["action"] = templates.AdminComplaint, score.ComplaintUnsubscribe
			}
		}
	case score.Show:
		toOwners = templates.AdminRefused
		about["count"], about["date"] = strconv.Itoa(r.Refused.Count), r.Refused.First.UTC().Format(time.DateOnly)
	}
	if toMember != "" {
		if err := b.tellMember(ctx, m, toMember, r, why); err != nil {
			return err
		}
	}
	if toOwners == "" {
		return nil
	}
	return b.tellOwners(ctx, toOwners, about)
}

// forComplaint puts the texts about complaints in the place of those about bounces.
func forComplaint(r score.Record, toMember, toOwners templates.Name) (templates.Name, templates.Name) {
	if r.Warned == 0 {
		return "", "" // to be removed: they hear of that
	}
	if toMember != "" {
		toMember = templates.UserComplaint
	}
	if toOwners != "" {
		toOwners = templates.AdminComplaint
	}
	return toMember, toOwners
}

// tellMember writes to the member. The answer to a probe or a warning carries the token;
// a probe also comes back with it. What becomes of the others interests nobody.
func (b *bouncing) tellMember(ctx context.Context, m *lists.Member, name templates.Name, r score.Record, why string) error {
	l, token := b.st.List(), tokenOf(m.ID, r.Token)
	vars := templates.Vars{
		"sender_email": m.Address.String(), "user_email": m.Address.String(), "user_name": m.Name, "user_name_or_address": or(m.Name, m.Address.String()),
		"token": token, "reasons": why,
	}
	if left := b.conf.Warnings - r.Warned; left > 0 {
		vars["count"] = strconv.Itoa(left)
	}
	text, err := b.c.Templates.Render(ctx, l, name, l.Language(m), vars)
	if err != nil {
		return err
	}
	n := notice{to: m.Address, subject: text.Subject, text: text.Body}
	if name != templates.UserGoodbye {
		n.subject += " (confirm " + token + ")"
		n.replyTo = extended(l.ID, lists.SubConfirm, token)
	}
	if name == templates.UserProbe {
		n.sender = extended(l.ID, lists.SubBounces, token)
	}
	b.send(n)
	return nil
}

func (b *bouncing) tellOwners(ctx context.Context, name templates.Name, vars templates.Vars) error {
	text, err := b.c.Templates.Render(ctx, b.st.List(), name, "", vars)
	if err != nil {
		return err
	}
	return b.owners(notice{subject: text.Subject, text: text.Body})
}

// owners sends a notice to the owners, within their share of the day. Its sender is
// null: it must not come back here.
func (b *bouncing) owners(n notice) error {
	if !b.c.hasOwners(b.st.List()) {
		return nil
	}
	may, err := b.may("bounces", b.st.List().Settings.Int("max_admin_notices_per_day"))
	if may {
		b.send(n)
	}
	return err
}

// may counts a notice against a limit of the day.
func (b *bouncing) may(key string, limit int64) (bool, error) {
	changes, ok := mayTell(&queue.Work{Entry: b.e, List: b.st.List(), State: b.st}, key, limit)
	return ok, b.change(changes...)
}

func (b *bouncing) send(n notice) {
	n.auto, n.trace = "auto-generated", b.e.Trace
	b.o.Children = append(b.o.Children, queue.Child{Entry: n.entry(b.st.ID())})
}

func (b *bouncing) tellStorm(ctx context.Context, s score.Storm, e score.Event) error {
	return b.tellOwners(ctx, templates.AdminStorm, templates.Vars{
		"receiver": s.Domain, "count": strconv.Itoa(s.Members), "kind": string(s.Kind), "reasons": e.Why,
	})
}

// ofOwner takes a bounce of mail to an owner or moderator: it is not scored, and it is no
// use to tell the owners.
func (b *bouncing) ofOwner(ctx context.Context, m *lists.Member, e score.Event) error {
	if !e.Kind.Scored() {
		b.say("ignored", "%s %s: %s", m.Role, m.Address, e.Kind)
		return nil
	}
	b.say("bounced", "%s %s: %s: %s", m.Role, m.Address, e.Kind, e.Why)
	if b.c.SiteOwner.Null() {
		return nil
	}
	text, err := b.c.Templates.Render(ctx, b.st.List(), templates.AdminOwnerBounces, "", templates.Vars{
		"member": m.Address.String(), "role": string(m.Role), "reasons": e.Why,
	})
	if err != nil {
		return err
	}
	may, err := b.may("bounced-owner/"+short(m.Address.Key()), 1)
	if may {
		b.send(notice{to: b.c.SiteOwner, subject: text.Subject, text: text.Body})
	}
	return err
}

// unrecognized passes on what came to the bounces address and is no bounce that we can
// read, as the list wants it.
func (b *bouncing) unrecognized(ctx context.Context, r bounces.Report) error {
	l := b.st.List()
	to := l.Settings.Text("forward_unrecognized_bounces_to")
	if to == "discard" || to == "administrators" && !b.c.hasOwners(l) || to == "site_owner" && b.c.SiteOwner.Null() {
		b.say("discarded", "%s that names nobody we know", r.Kind)
		return nil
	}
	may, err := b.may("unrecognized", l.Settings.Int("max_admin_notices_per_day"))
	if err != nil || !may {
		b.say("discarded", "%s that names nobody, and today's share of such mail is used up", r.Kind)
		return err
	}
	text, err := b.c.Templates.Render(ctx, l, templates.AdminUnrecognized, "", nil)
	if err != nil {
		return err
	}
	n := notice{subject: text.Subject, text: text.Body, attach: b.attached()}
	if to == "site_owner" {
		n.to = b.c.SiteOwner
	}
	b.send(n)
	b.say("forwarded", "%s that names nobody: to the %s", r.Kind, to)
	return nil
}

func (b *bouncing) attached() []byte {
	m := message.Parse(b.e.Raw)
	if len(b.e.Raw) > mostAttached {
		m.SetBody([]byte("[The message is too large to be attached.]\r\n"))
	}
	if out := m.Wire(); len(out) <= 2*mostAttached {
		return out
	}
	return []byte("Subject: [the header is too large to be attached]\r\n\r\n")
}
