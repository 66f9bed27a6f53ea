package stage

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// Carry makes an outcome of what the workflow of membership decided at a desk: the changes,
// and the notices as mails from templates. The desk's trace names them.
func (c Config) Carry(ctx context.Context, d subscribe.Desk, res subscribe.Result) (*queue.Outcome, error) {
	o := &queue.Outcome{Event: res.Event, Reason: res.Reason, Changes: res.Changes}
	w := &queue.Work{Entry: &queue.Entry{Envelope: queue.Envelope{Received: d.At, Trace: d.Trace}}, List: d.State.List(), State: d.State}
	for _, one := range res.Notices {
		if one.To.Null() {
			if !c.hasOwners(w.List) {
				continue
			}
			counts, ok := mayTell(w, "moderators", w.List.Settings.Int("max_admin_notices_per_day"))
			if !ok {
				continue
			}
			var err error
			if w.State, err = w.State.With(d.At, counts...); err != nil {
				return nil, fmt.Errorf("count a notice: %w", err)
			}
			o.Changes = append(o.Changes, counts...)
		}
		if one.Token != "" && c.Web != "" && byPage(res, one.Token) {
			one.Vars = maps.Clone(one.Vars)
			one.Vars["confirm_url"] = oneclick.URL(c.Web, w.List.ID, "confirm/"+one.Token)
		}
		n, err := c.membership(ctx, w.List, one)
		if err != nil {
			return nil, err
		}
		n.trace = d.Trace
		o.Children = append(o.Children, queue.Child{Entry: n.entry(w.List.ID)})
	}
	return o, nil
}

// byPage reports whether the token that a result sends out can also be brought back on the
// site's own page: an owner's command cannot, nor a moderator's decision.
func byPage(res subscribe.Result, token string) bool {
	for _, c := range res.Changes {
		if o, ok := c.(store.OpenPending); ok && subscribe.Token(o.Pending) == token {
			return o.Pending.State == store.PendingConfirm && o.Pending.Kind != store.PendingOwner
		}
	}
	return false
}

// membership is a notice about who is a member. Answers that bring a token back go to an
// address of their own; the envelope sender is another, where programs answer to. A
// moderator's answer has his words above the marker.
func (c Config) membership(ctx context.Context, l *lists.List, one subscribe.Notice) (notice, error) {
	n := notice{to: one.To, sender: l.ID.Bounces(), auto: "auto-generated"}
	vars := templates.Vars{}
	maps.Copy(vars, one.Vars)
	for name, v := range vars {
		vars[name] = lines(v)
	}
	if r, ok := vars["request"]; ok { // of an owner, of several lines: all stand below the first, which the templates indent
		vars["request"] = strings.ReplaceAll(r, "\n", "\n    ")
	}
	if one.Token != "" {
		n.replyTo = commands.ConfirmAddress(l.ID, one.Token)
		vars["token"], vars["confirm_email"] = one.Token, string(n.replyTo)
	}
	var err error
	if n.subject, n.text, err = c.says(ctx, l, one.Template, one.Lang, vars); err != nil {
		return n, err
	}
	switch {
	case one.Decide:
		n.subject, n.text = "confirm "+one.Token+": "+n.subject, commands.Marker+"\n\n"+n.text
	case one.Token != "":
		n.subject += " (confirm " + one.Token + ")"
		n.text += c.page(l.ID, one, n.text)
	}
	return n, nil
}

// page is the line with the page where a token can be confirmed too, if there is one, and
// if the text, of a list's own template perhaps, does not have it.
func (c Config) page(id lists.ID, one subscribe.Notice, text string) string {
	switch one.Template {
	case templates.UserSubscribe, templates.UserUnsubscribe, templates.UserInvite:
		url := oneclick.URL(c.Web, id, "confirm/"+one.Token)
		if c.Web != "" && !strings.Contains(text, url) {
			return "\n" + url + "\n"
		}
	}
	return ""
}

// requestsAt sorts requests by whether their time is over: the changes that close those,
// and the others as far as they wait for a moderator.
func requestsAt(st *store.State, now time.Time) (over []store.Change, wait []store.Pending) {
	for _, p := range st.Pendings() {
		switch {
		case !p.Until.After(now):
			over = append(over, store.ClosePending{ID: p.ID})
		case p.State == store.PendingModerate:
			wait = append(wait, p)
		}
	}
	return over, wait
}

// listedRequest is a request in the summary for moderators.
func listedRequest(id lists.ID, p store.Pending) string {
	return fmt.Sprintf("%s  %s\n    %s: %s\n%s\n", p.ID, p.Since.UTC().Format("2006-01-02 15:04 MST"), subscribe.Describe(p), plain(string(p.Address)), answerTo(id, subscribe.Token(p)))
}
