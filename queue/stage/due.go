package stage

import (
	"fmt"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/store"
	"qrunner/queue"
)

// Due is what time has brought about for a list: held posts that have expired, the daily
// summary of those that wait. nil: nothing. What it changes makes the next call at the
// same time answer nil.
func (c Config) Due(st *store.State, now time.Time) *queue.Outcome {
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
	if len(waiting) > 0 && c.summaryDue(st, now) {
		o.Changes = append(o.Changes, store.AddCount{Key: summaryKey, At: now, Until: now.Add(day)})
		o.Children = append(o.Children, queue.Child{Entry: summary(st.List().ID, waiting, now)})
		said = append(said, posts(len(waiting))+" held: summary to the moderators")
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
		return nil
	}
	o.Reason = strings.Join(said, "; ")
	return o
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
func summary(id lists.ID, waiting []store.HeldPost, now time.Time) *queue.Entry {
	var b strings.Builder
	fmt.Fprintf(&b, "Waiting for a decision: %s to %s.\n\n", posts(len(waiting)), id)
	b.WriteString("To decide about one, write to the address below it, with the decision as subject or as the first line:\n")
	for i, c := range commands.Moderation {
		fmt.Fprintf(&b, "%s%s", map[bool]string{true: "", false: ", "}[i == 0], c.Name)
	}
	b.WriteString(".\nEach address is good for one decision; keep it to yourself.\n\n")
	for i := range waiting {
		if i == mostListed {
			fmt.Fprintf(&b, "... and %d older ones: qrunner held ls %s\n", len(waiting)-mostListed, id)
			break
		}
		p := waiting[len(waiting)-1-i]
		fmt.Fprintf(&b, "%s  %s\n    From:    %s\n    Subject: %s\n    Why:     %s: %s\n", p.ID, p.Since.UTC().Format("2006-01-02 15:04 MST"), p.From, p.Subject, p.Rule, clip(p.Reason, shownLen))
		if token := commands.Token(p); token != "" {
			to := commands.ConfirmAddress(id, token)
			if strings.Contains(to.Local(), "+") {
				fmt.Fprintf(&b, "    To:      %s\n", to)
			} else {
				fmt.Fprintf(&b, "    To:      %s, with the line \"confirm %s\"\n", to, token)
			}
		}
		b.WriteString("\n")
	}
	return notice{
		subject: fmt.Sprintf("%s to %s: waiting for a moderator", posts(len(waiting)), id), text: b.String(),
		sender: id.Bounces(), auto: "auto-generated", trace: "summary." + now.UTC().Format("20060102T150405.000000"),
	}.entry(id)
}

func posts(n int) string {
	if n == 1 {
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}
