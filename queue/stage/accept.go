package stage

import (
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/handlers"
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
	chains.Mark(p.Message, v)
	if err := handlers.Run(ctx, p); err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	if len(p.Recipients) == 0 && !isPost {
		return nobody("the list has no owners, and the site names none"), nil
	}
	o := &queue.Outcome{Event: "accepted", Reason: reason(v), Verdict: &v, Changes: seen(w)}
	if isPost {
		o.Changes = append(o.Changes, store.SetPostID{N: p.PostID})
	}
	if len(p.Recipients) > 0 {
		o.Children = append(o.Children, queue.Child{Fanout: bulk(w, p)})
	}
	if p.Archive != nil {
		o.Children = append(o.Children, queue.Child{Entry: archiveEntry(w, p)})
	}
	return o, nil
}

// bulk is the fan-out of a post, or of mail to the owners.
func bulk(w *queue.Work, p *lists.Post) *queue.Fanout {
	f := fanout(w, p)
	f.Bulk = p.Target.Sub == lists.SubPost
	set := w.List.Settings
	f.VERP = !f.Bulk || set.Text("verp") == "always" || set.Text("personalize") != "none"
	if w.List.ID != lists.Site {
		f.Bounces = w.List.ID.Bounces()
	}
	return f
}

func archiveEntry(w *queue.Work, p *lists.Post) *queue.Entry {
	e := &queue.Entry{Queue: queue.Archive, List: w.List.ID, Envelope: w.Entry.Envelope, Raw: p.Archive.Wire()}
	e.Meta.PostID = p.PostID
	return e
}

// nobody parks mail that would reach no one.
func nobody(why string) *queue.Outcome {
	return &queue.Outcome{Fate: queue.FateShunt, Event: "shunted", Reason: why}
}
