package rules

import (
	"context"

	"qrunner/lists"
)

// nullSender: reports, vacation notes and the like are never distributed, and, being
// discarded, never answered (RFC 5321 §4.5.5).
func nullSender(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.Sender.Null() {
		return nil, nil
	}
	return hit("the envelope sender is empty")
}
