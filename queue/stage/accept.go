package stage

import (
	"context"
	"fmt"
	"time"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/handlers"
	"qrunner/lists/rules"
	"qrunner/lists/store"
	"qrunner/queue"
)

// letPass is the verdict on a post that a person approved.
func letPass(who string) lists.Verdict {
	why := "let pass by " + who
	return lists.Verdict{
		Action: lists.ActionAccept, Rule: "approved", Reason: why,
		Hits: []lists.Hit{{Rule: "approved", Reason: why, Action: lists.ActionAccept}},
	}
}

// accept runs the handlers on an accepted post, in the same go: a fan-out, a copy for
// the archive, the post's number, the mark against repeats.
func (c Config) accept(ctx context.Context, w *queue.Work, v lists.Verdict) (*queue.Outcome, error) {
	p := c.post(w)
	isPost := w.Entry.Target.Sub == lists.SubPost
	if isPost {
		p.PostID = w.List.PostID + 1
	}
	handlers.Protect(p)
	chains.Mark(p.Message, v)
	p.Message.Del(approvedAt)
	if v.Rule == "approved" {
		p.Message.Add(approvedAt, decided(w.Entry).UTC().Format(time.RFC1123Z))
	}
	if err := handlers.Run(ctx, p); err != nil {
		return c.unhandled(ctx, w, err)
	}
	v.Notes = p.Notes
	if len(p.Recipients) == 0 && !isPost {
		return nobody("the list has no owners, and the site names none"), nil
	}
	o := &queue.Outcome{Event: "accepted", Reason: v.String(), Verdict: &v, Changes: seen(w)}
	if isPost {
		o.Changes = append(o.Changes, store.SetPostID{N: p.PostID})
		o.Changes = append(o.Changes, counted(w, p)...)
	}
	if len(p.Recipients) > 0 {
		o.Children = append(o.Children, queue.Child{Fanout: bulk(w, p)})
	}
	if p.Archive != nil {
		o.Children = append(o.Children, queue.Child{Entry: archiveEntry(w, p)})
	}
	collect(w, p, o)
	if !isPost {
		return o, nil
	}
	if err := c.acknowledge(ctx, w, o); err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	return o, nil
}

// approvedAt says when a person let the post pass.
const approvedAt = "X-Mailman-Approved-At"

// decided is when a post was let pass: a release made a new entry then; a password came
// with the post.
func decided(e *queue.Entry) time.Time {
	if at := e.ID.Time(); e.Queue == queue.Pipeline && at.After(e.Received) {
		return at
	}
	return e.Received
}

// counted remembers a post that was accepted, for the rule rate-limit.
func counted(w *queue.Work, p *lists.Post) []store.Change {
	var out []store.Change
	list, author := rules.RateKeys(p)
	for _, c := range []struct{ setting, key string }{{"max_posts_per_list", list}, {"max_posts_per_sender", author}} {
		if p.List.Settings.Int(c.setting) > 0 {
			out = append(out, store.AddCount{Key: c.key, At: w.Entry.Received, Until: w.Entry.Received.Add(time.Hour)})
		}
	}
	return out
}

// bulk is the fan-out of a post, or of mail to the owners.
func bulk(w *queue.Work, p *lists.Post) *queue.Fanout {
	f := fanout(w, p)
	f.Bulk = p.Target.Sub == lists.SubPost
	set := w.List.Settings
	f.VERP = !f.Bulk || set.Text("personalize") != "none" || verps(set.Int("verp_delivery_interval"), p.PostID)
	f.Readable = set.Text("verp_form") == "readable"
	// A report that goes on to the owners keeps its empty sender: what becomes of it is
	// reported to nobody, so two owners' mailboxes cannot bounce at each other.
	if w.List.ID != lists.Site && !(w.Entry.Sender.Null() && !f.Bulk) {
		f.Bounces = w.List.ID.Bounces()
	}
	return f
}

// verps reports whether a post is one of every so many with bounce addresses per member;
// a digest, which has no number, always is one.
func verps(interval int64, post uint64) bool { return interval > 0 && post%uint64(interval) == 0 }

func archiveEntry(w *queue.Work, p *lists.Post) *queue.Entry {
	e := &queue.Entry{Queue: queue.Archive, List: w.List.ID, Envelope: w.Entry.Envelope, Raw: p.Archive.Wire()}
	e.Meta.PostID = p.PostID
	return e
}

// nobody parks mail that would reach no one.
func nobody(why string) *queue.Outcome {
	return &queue.Outcome{Fate: queue.FateShunt, Event: "shunted", Reason: why}
}
