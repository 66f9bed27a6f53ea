package stage

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/archive"
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// archiver files a post, and sends it on to where else the list wants it archived. The
// entry's own name is the file's, so a second try makes the same file.
type archiver struct{ commands *programs }

func newArchiver() archiver { return archiver{newPrograms()} }

// Process implements queue.Processor.
func (a archiver) Process(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	e, set := w.Entry, w.List.Settings
	if e.Meta.Archiver == byCommand {
		return a.commands.feed(ctx, w)
	}
	data := archive.Clean(e.Raw)
	f := &queue.File{Path: archive.Name(e.Received, string(e.ID)), Data: data}
	o := &queue.Outcome{Event: "archived", Reason: f.Path, Children: []queue.Child{{File: f}}}
	if set.Bool("archive_maildir") {
		o.Children = append(o.Children, queue.Child{File: &queue.File{Path: archive.Inbox(string(e.ID)), Data: data}})
	}
	if to := strings.Fields(set.Text("archive_address")); len(to) > 0 {
		o.Children = append(o.Children, queue.Child{Fanout: toAddresses(w, to)})
		o.Reason += ", to " + strings.Join(to, ", ")
	}
	if set.Text("archive_command") != "" {
		next := &queue.Entry{Queue: queue.Archive, List: w.List.ID, Envelope: e.Envelope, Raw: e.Raw}
		next.Meta.PostID, next.Meta.Archiver = e.Meta.PostID, byCommand
		o.Children = append(o.Children, queue.Child{Entry: next})
	}
	return o, nil
}

// toAddresses is the post on its way to archives that are reached by mail; retried like
// every other copy.
func toAddresses(w *queue.Work, to []string) *queue.Fanout {
	e := w.Entry
	f := &queue.Fanout{List: w.List.ID, Envelope: e.Envelope, Raw: e.Raw, PostID: e.Meta.PostID, Bulk: true, Bounces: w.List.ID.Bounces()}
	for _, text := range to {
		if a, err := mailaddr.Parse(text); err == nil {
			f.Recipients = append(f.Recipients, lists.Recipient{Kind: lists.KindNotice, Address: a})
		}
	}
	return f
}
