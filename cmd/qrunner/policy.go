package main

import (
	"context"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/stage"
	"qrunner/queue/trace"
)

// stages is what the stages need to know of this house.
func (h *house) stages() stage.Config {
	return stage.Config{
		Host: h.host.Host, SiteOwner: h.siteOwner(), FS: h.fs, Others: h.roster, Templates: h.texts,
		DMARC: h.auth.dmarc, Authority: h.auth.authority, Web: h.conf.Web.BaseURL, Directory: h.directory,
	}
}

// roster is who is on a list now.
func (h *house) roster(ctx context.Context, id lists.ID) (lists.Roster, error) {
	st, err := h.store.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	return st.List().Roster, nil
}

// directory is the lists of a domain now. One that cannot be read is left out.
func (h *house) directory(ctx context.Context, domain string) ([]*lists.List, error) {
	ids, err := h.store.Lists(ctx)
	if err != nil {
		return nil, err
	}
	var out []*lists.List
	for _, id := range ids {
		if id == lists.Site || id.Domain() != domain {
			continue
		}
		if st, err := h.store.Read(ctx, id); err == nil {
			out = append(out, st.List())
		} else if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return out, nil
}

// tasks does the lists' periodic work until ctx ends.
func (d *daemon) tasks(ctx context.Context) error {
	t := stage.Tasks{
		Stage: d.stages(), Store: d.store, Spool: d.spool, Clock: time.Now, Log: d.log,
		Done: func(ctx context.Context, id lists.ID, o *queue.Outcome) {
			d.trace.Add(ctx, trace.Event{List: id, Event: o.Event, Detail: o.Reason})
			d.tell(ctx, id, o.Told)
			d.runner.Wake(id)
		},
	}
	return t.Run(ctx)
}

// tell writes into the trace what was decided about messages.
func (h *house) tell(ctx context.Context, id lists.ID, told []queue.Told) {
	for _, t := range told {
		h.trace.Add(ctx, trace.Event{Trace: t.Trace, MessageID: t.MessageID, List: id, Event: t.Event, Detail: t.Reason})
	}
}
