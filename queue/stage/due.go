package stage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/store"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// Due is what time has brought about for a list: held posts and requests that have expired,
// the daily summary of those that wait for a moderator. nil: nothing. What it changes makes the next call at the
// same time answer nil.
func (c Config) Due(ctx context.Context, st *store.State, now time.Time) (*queue.Outcome, error) {
	o := &queue.Outcome{Event: "periodic"}
	var waiting []store.HeldPost
	expired := 0
	most := time.Duration(st.List().Settings.Int("max_days_to_hold")) * day
	for _, p := range st.Held() {
		if most > 0 && now.Sub(p.Since) >= most {
			o.Changes = append(o.Changes, store.DropHeld{ID: p.ID})
			o.Told = append(o.Told, queue.Told{Trace: p.Trace, MessageID: p.MessageID, Event: "expired", Reason: "nobody decided about the held post " + p.ID})
			expired++
			continue
		}
		waiting = append(waiting, p)
	}
	var said []string
	if expired > 0 {
		said = append(said, posts(expired)+" expired")
	}
	over, requests := requestsAt(st, now)
	if o.Changes = append(o.Changes, over...); len(over) > 0 {
		said = append(said, fmt.Sprintf("requests expired: %d", len(over)))
	}
	if len(waiting)+len(requests) > 0 && c.summaryDue(st, now) {
		n, err := c.summary(ctx, st.List(), waiting, requests, now)
		if err != nil {
			return nil, fmt.Errorf("summary of held posts: %w", err)
		}
		o.Changes = append(o.Changes, store.AddCount{Key: summaryKey, At: now, Until: now.Add(day)})
		o.Children = append(o.Children, queue.Child{Entry: n.entry(st.ID())})
		said = append(said, fmt.Sprintf("%s held, requests: %d; summary to the moderators", posts(len(waiting)), len(requests)))
	}
	if child, mark, due := digestTime(st, now); due {
		o.Changes, o.Children = append(o.Changes, mark), append(o.Children, child)
		said = append(said, "a digest is due")
	}
	if child, mark, due := bouncesTime(st, now); due {
		o.Changes, o.Children = append(o.Changes, mark), append(o.Children, child)
		said = append(said, "warnings or removals for bounces are due")
	}
	if len(o.Changes) == 0 {
		return nil, nil
	}
	o.Reason = strings.Join(said, "; ")
	return o, nil
}

const summaryKey = "summary"

func (c Config) summaryDue(st *store.State, now time.Time) bool {
	l := st.List()
	return l.ID != lists.Site && l.Settings.Bool("admin_notify_pending") && c.hasOwners(l) && st.Count(summaryKey, now) == 0
}

// mostListed is how many posts a summary has one by one.
const mostListed = 50

// summary is the mail to the moderators about what waits, the newest first: what is left
// out is what they have read about before.
func (c Config) summary(ctx context.Context, l *lists.List, waiting []store.HeldPost, requests []store.Pending, now time.Time) (notice, error) {
	vars := templates.Vars{"count": strconv.Itoa(len(waiting) + len(requests))}
	var b strings.Builder
	for i, p := range slices.Backward(requests) {
		if len(requests)-i > mostListed {
			vars["more"] = strconv.Itoa(i + 1)
			break
		}
		b.WriteString(listedRequest(l.ID, p))
	}
	for i, p := range slices.Backward(waiting) {
		if len(waiting)-i > mostListed {
			vars["more"] = strconv.Itoa(i + 1)
			break
		}
		b.WriteString(listed(l.ID, p))
	}
	vars["data"] = strings.TrimRight(b.String(), "\n")
	subject, text, err := c.says(ctx, l, templates.AdminPending, "", vars)
	return notice{
		subject: subject, text: text, sender: l.ID.Bounces(), auto: "auto-generated",
		trace: "summary." + now.UTC().Format("20060102T150405.000000"),
	}, err
}

// listed is a held post in the summary, in the words of mail headers: they are the same
// in every language. A token that does not fit into the address stands in a line that
// has to be in the answer.
func listed(id lists.ID, p store.HeldPost) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n    From:    %s\n    Subject: %s\n    Rule:    %s: %s\n", p.ID, p.Since.UTC().Format("2006-01-02 15:04 MST"), p.From, p.Subject, p.Rule, clip(p.Reason, shownLen))
	if token := commands.Token(p); token != "" {
		b.WriteString(answerTo(id, token))
	}
	return b.String() + "\n"
}

func answerTo(id lists.ID, token string) string {
	to := commands.ConfirmAddress(id, token)
	out := fmt.Sprintf("    To:      %s\n", to)
	if !strings.Contains(to.Local(), "+") {
		out += fmt.Sprintf("    confirm %s\n", token)
	}
	return out
}

func people(n int) string {
	if n == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", n)
}

func posts(n int) string {
	if n == 1 {
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}
