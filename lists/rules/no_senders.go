package rules

import (
	"context"

	"qrunner/lists"
)

// noSenders looks in every place that sender_headers names. A post that has a sender
// but no readable From is not nobody's: the moderation rules see an author who is no
// member.
func noSenders(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if len(Senders(p)) > 0 {
		return nil, nil
	}
	return hit("no readable address in %s", p.List.Settings.Text("sender_headers"))
}
