package stage

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"qrunner/lists"
	"qrunner/lists/digest"
	"qrunner/lists/handlers"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// digester sends digests. An entry of its queue says no more than that one is due.
type digester struct{ c Config }

// Process implements queue.Processor.
func (s *digester) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	return s.c.SendDigest(ctx, w.State, w.Entry.Received, w.Entry.Trace)
}

// SendDigest makes a digest of the posts that wait and closes it, in one outcome: each
// post is in one digest, whatever crashes. now is the date of the digest. Where nobody
// gets digests any more the posts are let go.
func (c Config) SendDigest(ctx context.Context, st *store.State, now time.Time, trace string) (*queue.Outcome, error) {
	d, l := st.Digest(), st.List()
	if len(d.Posts) == 0 {
		return &queue.Outcome{Event: "empty", Reason: "no post waits for a digest"}, nil
	}
	closing := store.CloseDigest{Volume: d.Volume, Issue: d.Issue, At: d.SentAt}
	for _, p := range d.Posts {
		closing.Posts = append(closing.Posts, p.ID)
	}
	plain, mime := readers(l, d.Last)
	if len(plain)+len(mime) == 0 {
		return &queue.Outcome{
			Event: "discarded", Reason: fmt.Sprintf("nobody gets digests: let go of %s", posts(len(d.Posts))), Changes: []store.Change{closing},
		}, nil
	}
	i, err := c.Digest(ctx, st, now)
	if err != nil {
		return nil, fmt.Errorf("digest of %s: %w", l.ID, err)
	}
	closing.Volume, closing.Issue, closing.At = i.Volume, i.Number, now
	o := &queue.Outcome{
		Event: "digest", Changes: []store.Change{closing},
		Reason: fmt.Sprintf("%s: %s to %s", i.Name(), posts(len(d.Posts)), people(len(plain)+len(mime))),
	}
	e := &queue.Entry{List: l.ID}
	e.Target, e.Received, e.Source, e.Trace = lists.Target{List: l.ID}, now, "internal", trace
	for _, kind := range []struct {
		to   []lists.Recipient
		make func() *message.Message
	}{{plain, i.Plain}, {mime, i.MIME}} {
		if len(kind.to) == 0 {
			continue
		}
		f, err := c.digestFanout(ctx, &queue.Work{Entry: e, List: l}, kind.make(), kind.to)
		if err != nil {
			return nil, fmt.Errorf("digest of %s: %w", l.ID, err)
		}
		o.Children = append(o.Children, queue.Child{Fanout: f})
	}
	return o, nil
}

// Digest puts together what the next digest will be, if it is sent at now.
func (c Config) Digest(ctx context.Context, st *store.State, now time.Time) (*digest.Issue, error) {
	c = c.withTemplates()
	d, l := st.Digest(), st.List()
	i := &digest.Issue{List: l, Title: displayName(l), Date: now, MaxPart: int(l.Settings.Int("digest_max_part_size")) << 10}
	i.Volume, i.Number = digest.Next(d.Volume, d.Issue, d.SentAt, now, l.Settings.Text("digest_volume_frequency"))
	vars := templates.Vars{
		"volume": strconv.Itoa(i.Volume), "issue": strconv.Itoa(i.Number), "count": strconv.Itoa(len(d.Posts)),
		"date": now.UTC().Format("2006-01-02"),
	}
	for _, t := range []struct {
		name templates.Name
		into *string
	}{{templates.DigestMasthead, &i.Masthead}, {templates.DigestHeader, &i.Header}, {templates.DigestFooter, &i.Footer}} {
		text, err := c.Templates.Render(ctx, l, t.name, "", vars)
		if err != nil {
			return nil, err
		}
		*t.into, i.Language = text.Body, text.Lang
	}
	for _, p := range d.Posts {
		raw, err := c.loadDigestPost(ctx, l.ID, p)
		if err != nil {
			return nil, err
		}
		i.Posts = append(i.Posts, digest.Post{Number: p.N, Raw: raw})
	}
	return i, nil
}

// digestFanout is one kind of digest on its way to those who read it.
func (c Config) digestFanout(ctx context.Context, w *queue.Work, m *message.Message, to []lists.Recipient) (*queue.Fanout, error) {
	p := c.post(w)
	p.Message, p.Recipients = m, to
	if err := handlers.RunDigest(ctx, p); err != nil {
		return nil, err
	}
	return bulk(w, p), nil
}

// readers are the members who get digests, plain and MIME: as their modes say, and
// those who get one last digest.
func readers(l *lists.List, last []store.LastDigest) (plain, mime []lists.Recipient) {
	add := func(m *lists.Member, mode lists.DeliveryMode) {
		to := lists.Recipient{Kind: lists.KindMember, Member: m.ID, Address: m.Address}
		if mode == lists.ModePlainDigests {
			plain = append(plain, to)
		} else {
			mime = append(mime, to)
		}
	}
	for m := range l.Roster.All(lists.RoleMember) {
		if l.Digested(m) {
			add(m, l.Mode(m))
		}
	}
	for _, x := range last {
		m, ok := l.Roster.ByID(x.Member)
		if ok && m.Role == lists.RoleMember && !l.Digested(m) && l.Enabled(m) {
			add(m, x.Mode)
		}
	}
	return plain, mime
}
