package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
)

// toArchive takes the archive's copy.
func toArchive(_ context.Context, p *lists.Post) error {
	if archives(p) {
		p.Archive = p.Message.Clone()
	}
	return nil
}

// archives reports whether the post goes there: unless the list or the author wants that
// it does not.
func archives(p *lists.Post) bool {
	m := p.Message
	no := m.Has("X-No-Archive") && !strings.EqualFold(m.Get("X-No-Archive"), "no") || strings.EqualFold(m.Get("X-Archive"), "no")
	return !no && p.List.Settings.Text("archive_policy") != "never"
}
