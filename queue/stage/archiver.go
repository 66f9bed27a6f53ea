package stage

import (
	"context"

	"qrunner/lists/archive"
	"qrunner/queue"
)

// archiver files a post. The entry's own name is the file's, so a second try makes
// the same file.
type archiver struct{}

// Process implements queue.Processor.
func (archiver) Process(_ context.Context, w *queue.Work) (*queue.Outcome, error) {
	e := w.Entry
	f := &queue.File{Path: archive.Name(e.Received, string(e.ID)), Data: archive.Clean(e.Raw)}
	return &queue.Outcome{Event: "archived", Reason: f.Path, Children: []queue.Child{{File: f}}}, nil
}
