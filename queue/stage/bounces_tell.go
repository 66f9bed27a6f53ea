package stage

import (
	"context"
	"fmt"
	"strconv"

	"qrunner/lists"
	"qrunner/lists/bounces"
	"qrunner/lists/bounces/score"
	"qrunner/lists/message"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// tellOf writes to the member and to the owners about an act; why is the last bounce.
func (b *bouncing) tellOf(ctx context.Context, m *lists.Member, a score.Act, r score.Record, why string) error {
	switch a {
	case score.Probe:
		return b.tellMember(ctx, m, templates.UserProbe, r, why)
	case score.Warn:
		return b.tellMember(ctx, m, templates.UserWarning, r, why)
	case score.Disable:
		if r.Warned > 0 {
			if err := b.tellMember(ctx, m, templates.UserWarning, r, why); err != nil {
				return err
			}
		}
		if b.st.List().Settings.Bool("bounce_notify_owner_on_disable") {
			return b.tellOwners(ctx, templates.AdminDisable, templates.Vars{"member": m.Address.String(), "score": r.Score.String(), "reasons": why})
		}
	case score.Remove:
		if err := b.tellMember(ctx, m, templates.UserGoodbye, r, why); err != nil {
			return err
		}
		if b.st.List().Settings.Bool("bounce_notify_owner_on_removal") {
			return b.tellOwners(ctx, templates.AdminRemoval, templates.Vars{"member": m.Address.String(), "reasons": why})
		}
	case score.Show:
		return b.owners(notice{
			subject: fmt.Sprintf("%s: mail to %s is refused", b.st.ID(), m.Address),
			text: fmt.Sprintf("Mail from %s to\n\n    %s\n\nhas been refused for policy %d times in a row since %s. That is no fault of\nthe address, so it is not scored, and the member stays on the list.\n\nThe last report said:\n\n%s\n",
				b.st.ID(), m.Address, r.Refused.Count, r.Refused.First.UTC().Format("2006-01-02"), why),
		})
	}
	return nil
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
	text, err := b.c.Templates.Render(ctx, l, name, m.Prefs["preferred_language"], vars)
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

// siteOwner sends a notice to the owner of the site, if there is one, once a day for a key.
func (b *bouncing) siteOwner(key string, n notice) error {
	if b.c.SiteOwner.Null() {
		return nil
	}
	may, err := b.may(key, 1)
	if may {
		n.to = b.c.SiteOwner
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

func (b *bouncing) tellStorm(s score.Storm, e score.Event) error {
	return b.owners(notice{
		subject: fmt.Sprintf("%s: many bounces from %s", b.st.ID(), s.Domain),
		text: fmt.Sprintf("Within an hour mail from %s to %d members at\n\n    %s\n\ncame back in the same way (%s). That many addresses do not die at once, so as\nlong as it goes on these bounces are not scored, and the points that members\ngot for them in the last hour were taken back.\n\nThe last report said:\n\n%s\n\nIf you know that the addresses are dead: qrunner member del, or the setting\nbounce_storm_percent.\n",
			b.st.ID(), s.Members, s.Domain, s.Kind, e.Why),
	})
}

// ofOwner takes a bounce of mail to an owner or moderator: it is not scored, and it is no
// use to tell the owners.
func (b *bouncing) ofOwner(m *lists.Member, e score.Event) error {
	if !e.Kind.Scored() {
		b.say("ignored", "%s %s: %s", m.Role, m.Address, e.Kind)
		return nil
	}
	b.say("bounced", "%s %s: %s: %s", m.Role, m.Address, e.Kind, e.Why)
	return b.siteOwner("bounced-owner/"+short(m.Address.Key()), notice{
		subject: fmt.Sprintf("%s: mail to %s %s comes back", b.st.ID(), m.Role, m.Address),
		text:    fmt.Sprintf("Mail to a %s of %s came back:\n\n    %s\n    %s\n\nNothing was changed.\n", m.Role, b.st.ID(), m.Address, e.Why),
	})
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
