package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
)

// toArchive takes the archive's copy, unless the list or the author wants none.
func toArchive(_ context.Context, p *lists.Post) error {
	m := p.Message
	if p.List.Settings.Text("archive_policy") == "never" || strings.EqualFold(m.Get("X-No-Archive"), "yes") ||
		strings.EqualFold(m.Get("X-Archive"), "no") {
		return nil
	}
	p.Archive = m.Clone()
	return nil
}
