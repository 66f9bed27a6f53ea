package rules

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// commands are the words that look like a command, with the least and the greatest
// number of arguments that they then have.
var commands = map[string][2]int{
	"confirm": {1, 1}, "help": {0, 0}, "info": {0, 0}, "join": {0, 3}, "leave": {0, 1}, "lists": {0, 0},
	"options": {0, 0}, "password": {2, 2}, "remove": {0, 0}, "set": {3, 3}, "subscribe": {0, 3},
	"unsubscribe": {0, 1}, "who": {0, 1},
}

// administriviaLines is how many lines of text are looked at.
const administriviaLines = 10

func administrivia(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if !p.List.Settings.Bool("administrivia") {
		return nil, nil
	}
	if s := message.DecodeHeader(p.Message.Get("Subject")); isCommand(s) {
		return hit("the subject looks like a command")
	}
	seen := 0
	for line := range strings.Lines(firstText(p.Message)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if isCommand(line) {
			return hit("a line looks like a command: %s", message.OneLine(strings.TrimSpace(line)))
		}
		if seen++; seen == administriviaLines {
			break
		}
	}
	return nil, nil
}

func isCommand(line string) bool {
	if len(line) > 200 {
		return false
	}
	words := strings.Fields(strings.ToLower(line))
	if len(words) == 0 {
		return false
	}
	args, ok := commands[words[0]]
	return ok && len(words)-1 >= args[0] && len(words)-1 <= args[1]
}

// firstText is the first text/plain part, decoded if that can be done.
func firstText(m *message.Message) string {
	root, err := m.Structure()
	if err != nil {
		return ""
	}
	for part := range root.Leaves {
		if part.Type.Media != "text/plain" {
			continue
		}
		if text, ok := part.Text(m.Body()); ok {
			return text
		}
		return strings.ToValidUTF8(string(part.Decode(m.Body())), "?")
	}
	return ""
}
