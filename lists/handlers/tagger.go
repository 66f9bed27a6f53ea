package handlers

import (
	"context"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// topicsField tells mailers what the post is about.
const topicsField = "X-Topics"

// tagger finds the list's topics that the post is about. Whatever the author put into
// X-Topics goes.
func tagger(_ context.Context, p *lists.Post) error {
	topics, on := topicsOf(p.List)
	if !on {
		return nil
	}
	p.Message.Del(topicsField)
	texts := subjects(p.Message, int(p.List.Settings.Int("topics_bodylines_limit")))
	for _, t := range topics {
		if !slices.Contains(p.Topics, t.Name) && slices.ContainsFunc(texts, t.Pattern.MatchString) {
			p.Topics = append(p.Topics, t.Name)
		}
	}
	if len(p.Topics) > 0 {
		p.Message.Add(topicsField, message.EncodeHeader(strings.Join(p.Topics, ", ")))
	}
	return nil
}

// topicsOf is the list's topics; false if it has none, or if they cannot be read: then
// everybody gets everything.
func topicsOf(l *lists.List) ([]lists.Topic, bool) {
	if !l.Settings.Bool("topics_enabled") {
		return nil, false
	}
	topics, err := l.Settings.Topics("topics")
	return topics, err == nil
}

// subjects is what the author says that the post is about: Subject and Keywords, in the
// header or in the text's first lines that are not empty, as far as they look like a
// header.
func subjects(m *message.Message, limit int) []string {
	var out []string
	for _, name := range []string{"Subject", "Keywords"} {
		for _, v := range m.All(name) {
			out = append(out, message.DecodeHeader(v))
		}
	}
	root, err := m.Structure()
	if err != nil {
		return out
	}
	for leaf := range root.Leaves {
		text, ok := leaf.Text(m.Body())
		if !ok || leaf.Type.Media != "text/plain" {
			continue
		}
		return append(out, bodySubjects(text, limit)...)
	}
	return out
}

func bodySubjects(text string, limit int) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if limit--; limit < 0 || !ok || strings.ContainsAny(name, " \t") {
			break
		}
		if oneOf(name, []string{"Subject", "Keywords"}) {
			out = append(out, strings.TrimSpace(value))
		}
	}
	return out
}
