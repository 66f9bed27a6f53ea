package rules

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// quotedLines is how many lines of a digest's own make it quoted whole.
const quotedLines = 4

// masthead are lines that stand in each digest of Mailman's, and in ours. A line that
// quotes one counts.
var masthead = []string{
	"mailing list submissions to", "to subscribe or unsubscribe via", "or, via email, send a message with subject",
	"you can reach the person managing the list", "when replying, please edit your subject line",
	"than \"re: contents of", "today's topics:",
}

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
		line = strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, ">| \t")))
		// RFC 1153: seventy hyphens behind the preamble, thirty between the messages.
		if line == strings.Repeat("-", 30) || line == strings.Repeat("-", 70) || ofMasthead(line) {
			n++
		}
	}
	if n < quotedLines {
		return nil, nil
	}
	return hit("it quotes a digest whole")
}

func ofMasthead(line string) bool {
	if strings.HasPrefix(line, "end of ") && strings.Contains(line, " digest") {
		return true
	}
	return slices.ContainsFunc(masthead, func(m string) bool { return strings.Contains(line, m) })
}
