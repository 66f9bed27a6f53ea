package stage

import (
	"context"
	"fmt"
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
func (c Config) tellModerators(w *queue.Work, o *queue.Outcome, p store.HeldPost) {
	set := w.List.Settings
	if !set.Bool("admin_immed_notify") || !c.hasOwners(w.List) {
		return
	}
	changes, ok := mayTell(w, "moderators", set.Int("max_admin_notices_per_day"))
	if !ok {
		return
	}
	o.Changes = append(o.Changes, changes...)
	o.Children = append(o.Children, queue.Child{Entry: request(w, p).entry(w.List.ID)})
}

// hasOwners reports whether anybody would get mail for the owners.
func (c Config) hasOwners(l *lists.List) bool {
	return !c.SiteOwner.Null() || l.Roster.Count(lists.RoleOwner)+l.Roster.Count(lists.RoleModerator) > 0
}

// request is the notice of one held post.
func request(w *queue.Work, p store.HeldPost) notice {
	id, token := w.List.ID, commands.Token(p)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nA post to %s waits for your decision.\n\n", commands.Marker, id)
	fmt.Fprintf(&b, "    From:    %s\n    Subject: %s\n    Size:    %d octets\n    Why:     %s: %s\n    Held as: %s\n\n", p.From, p.Subject, p.Size, p.Rule, p.Reason, p.ID)
	b.WriteString("To decide, answer with one of these on a line of its own, at the very top:\n\n")
	for _, c := range commands.Moderation {
		fmt.Fprintf(&b, "    %-16s - %s\n", c.Name, c.Doc)
	}
	fmt.Fprintf(&b, "\nThe address that your answer goes to is good for one decision; keep it to yourself.\nThe post is attached.\n")
	return notice{
		subject: fmt.Sprintf("confirm %s: post to %s from %s", token, id, p.From), text: b.String(),
		replyTo: commands.ConfirmAddress(id, token), sender: id.Bounces(), auto: "auto-generated",
		attach: attached(w), trace: w.Entry.Trace,
	}
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
