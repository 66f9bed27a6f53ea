package rules

import (
	"context"
	"strings"

	"qrunner/lists"
)

// autoSubmitted finds answers that a program gave (RFC 3834 §5): sent on, they would be
// answered again. Mail that a program writes by itself (auto-generated) is welcome.
func autoSubmitted(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	word := strings.FieldsFunc(p.Message.Get("Auto-Submitted"), func(r rune) bool { return strings.ContainsRune(" \t;(", r) })
	if len(word) == 0 || !strings.EqualFold(word[0], "auto-replied") {
		return nil, nil
	}
	return hit("a machine answered by itself (Auto-Submitted: auto-replied)")
}
