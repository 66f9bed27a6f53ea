package rules

import (
	"context"
	"regexp"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// quotedSeparators is how many separator lines of a digest make it quoted whole.
const quotedSeparators = 4

func digests(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.List.Settings.Bool("hold_digest") {
		return nil, nil
	}
	subject := message.DecodeHeader(p.Message.Get("Subject"))
	if ok, _ := regexp.MatchString(`(?i)\bdigest, vol(ume)? \d+`, subject); ok {
		return hit("the subject is a digest's")
	}
	n := 0
	for line := range strings.Lines(firstText(p.Message)) {
		// RFC 1153: thirty hyphens between the messages.
		if line = strings.TrimLeft(line, "> "); strings.TrimSpace(line) == strings.Repeat("-", 30) {
			n++
		}
	}
	if n < quotedSeparators {
		return nil, nil
	}
	return hit("it quotes a digest whole")
}
