package stage

import (
	"context"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/mailaddr"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/message"
	"qrunner/lists/rules"
	"qrunner/lists/store"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// tellPoster says that a post waits. Whose address was forged into From must not hear of
// it: the setting respond_to_post_requests says how sure we have to be.
func (c Config) tellPoster(ctx context.Context, w *queue.Work, o *queue.Outcome, p *lists.Post, v lists.Verdict) error {
	to := poster(p)
	if to.Null() {
		return nil
	}
	subject, text, err := c.says(ctx, w.List, templates.UserHold, reads(w.List, to), templates.Vars{
		"sender_email": to.String(), "subject": subject(p.Message), "reasons": lines(v.Reason),
	})
	if err != nil {
		return err
	}
	n := answer(w.Entry, p.Message, subject, text)
	n.to = to
	reply(w, o, n)
	return nil
}

// poster is who is told that a post is held; null: nobody.
func poster(p *lists.Post) mailaddr.Address {
	set := p.List.Settings
	switch set.Text("respond_to_post_requests") {
	case "yes":
		return p.Sender
	case "verified":
		from := p.Message.Addresses("From")
		if len(from) != 1 || len(p.Message.All("From")) != 1 {
			return ""
		}
		_, member := p.List.Roster.Find(lists.RoleMember, from[0])
		if member || authres.Vouches(p.Message, strings.Fields(set.Text("trusted_authserv_ids")), from[0].Domain()) {
			return from[0]
		}
	}
	return ""
}

// mostAttached is the largest post that the notice to the moderators has attached, in
// octets; of a larger one they get the header.
const mostAttached = 256 << 10

// tellModerators sends the notice that they can answer, where the list wants one for each
// post. Beyond the day's share the summary has to do.
func (c Config) tellModerators(ctx context.Context, w *queue.Work, o *queue.Outcome, p store.HeldPost) error {
	set := w.List.Settings
	if !set.Bool("admin_immed_notify") || !c.hasOwners(w.List) {
		return nil
	}
	changes, ok := mayTell(w, "moderators", set.Int("max_admin_notices_per_day"))
	if !ok {
		return nil
	}
	n, err := c.request(ctx, w, p)
	if err != nil {
		return err
	}
	o.Changes = append(o.Changes, changes...)
	o.Children = append(o.Children, queue.Child{Entry: n.entry(w.List.ID)})
	return nil
}

// hasOwners reports whether anybody would get mail for the owners.
func (c Config) hasOwners(l *lists.List) bool {
	return !c.SiteOwner.Null() || l.Roster.Count(lists.RoleOwner)+l.Roster.Count(lists.RoleModerator) > 0
}

// request is the notice of one held post. The token leads the subject, so that an answer
// carries it whatever a template makes of the rest; the marker leads the text.
func (c Config) request(ctx context.Context, w *queue.Work, p store.HeldPost) (notice, error) {
	id, token := w.List.ID, commands.Token(p)
	subject, text, err := c.says(ctx, w.List, templates.AdminActionPost, "", templates.Vars{
		"sender_email": p.From, "subject": p.Subject, "reasons": lines(p.Rule + ": " + p.Reason), "held_id": p.ID,
		"size": strconv.FormatInt(p.Size, 10), "token": token,
	})
	return notice{
		subject: "confirm " + token + ": " + subject, text: commands.Marker + "\n\n" + text,
		replyTo: commands.ConfirmAddress(id, token), sender: id.Bounces(), auto: "auto-generated",
		attach: attached(w), trace: w.Entry.Trace,
	}, err
}

// attached is the post as moderators see it: without a password that was in it.
func attached(w *queue.Work) []byte {
	m := message.Parse(w.Entry.Raw)
	rules.Cleanse(m, w.List)
	if len(w.Entry.Raw) > mostAttached {
		m.SetBody([]byte("[The post is too large to be attached.]\r\n"))
	}
	out := m.Wire()
	if len(out) > 2*mostAttached {
		return []byte("Subject: [the header is too large to be attached]\r\n\r\n")
	}
	return out
}
