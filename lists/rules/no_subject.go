package rules

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// noSubject is off unless the list asks for it: an empty subject is no offence.
func noSubject(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.List.Settings.Bool("require_subject") || strings.TrimSpace(message.DecodeHeader(p.Message.Get("Subject"))) != "" {
		return nil, nil
	}
	return hit("it has no subject")
}
