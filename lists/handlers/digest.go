package handlers

import (
	"context"

	"qrunner/lists"
)

// Digest is what happens to a digest that was made of posts, in order.
var Digest = []Handler{
	{"cook-headers", cookHeaders, "The loop mark, Precedence."},
	{"rfc-2369", rfc2369, "List-Id and the other List-* fields."},
	{"one-click", oneClick, "Each member's own unsubscribe URL."},
	{"sign", sign, "The list's signatures."},
}

// RunDigest applies the handlers for a digest.
func RunDigest(ctx context.Context, p *lists.Post) error { return apply(ctx, Digest, p) }

// toDigest takes the copy that waits for the next digest, where anybody gets one.
func toDigest(_ context.Context, p *lists.Post) error {
	if p.DigestMembers && p.List.Settings.Bool("digests_enabled") {
		p.Digest = p.Message.Clone()
	}
	return nil
}
