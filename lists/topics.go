package lists

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Topic is a subject that members can choose: its name, and what shows that a post is
// about it. Case does not count.
type Topic struct {
	Name    string
	Pattern *regexp.Regexp
}

// ParseTopics reads lines of "name: regular expression"; empty lines and lines that start
// with "#" do not count. A name may stand in several lines.
func ParseTopics(v string) ([]Topic, error) {
	var out []Topic
	for line := range strings.Lines(v) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, pattern, ok := strings.Cut(line, ":")
		name, pattern = strings.TrimSpace(name), strings.TrimSpace(pattern)
		if !ok || name == "" || pattern == "" || strings.Contains(name, ",") {
			return nil, fmt.Errorf("%q is not of the form: name: regular expression (no comma in the name)", line)
		}
		re, err := regexp.Compile("(?i)" + pattern)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		out = append(out, Topic{name, re})
	}
	return out, nil
}

func topics(v string) error {
	_, err := ParseTopics(v)
	return err
}

// Topics is a setting of topics, as Patterns.
func (s *Settings) Topics(name string) ([]Topic, error) { return parsed(s, name, ParseTopics) }

// Topics is the topics that a member chose, by the preference of that name.
func (m *Member) Topics() []string {
	var out []string
	for t := range strings.SplitSeq(m.Prefs["topics"], ",") {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// Wants reports whether the member wants a post on these topics. Who chose none gets
// every post; who chose some gets posts on any of them, and posts on no topic at all only
// with the preference receive_nonmatching_topics. A topic that the list no longer has
// still counts as chosen.
func (l *List) Wants(m *Member, on []string) bool {
	chosen := m.Topics()
	if len(chosen) == 0 {
		return true
	}
	if len(on) == 0 {
		return l.PrefBool(m, "receive_nonmatching_topics")
	}
	return slices.ContainsFunc(chosen, func(c string) bool {
		return slices.ContainsFunc(on, func(t string) bool { return strings.EqualFold(c, t) })
	})
}
