package lists

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// HeaderMatch is one line of header_matches: "[chain] header: regular expression".
type HeaderMatch struct {
	// Action is the chain that a match leads to; empty where the line names none.
	Action  Action
	Header  string
	Pattern *regexp.Regexp
}

// matchChains are the chains that a header match may name.
var matchChains = []Action{ActionAccept, ActionHold, ActionReject, ActionDiscard, ActionDefer}

// ParseHeaderMatches reads one header match a line; empty lines and lines that start
// with "#" do not count.
func ParseHeaderMatches(v string) ([]HeaderMatch, error) {
	var out []HeaderMatch
	for line := range strings.Lines(v) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		h, err := parseHeaderMatch(line)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func parseHeaderMatch(line string) (HeaderMatch, error) {
	head, pattern, ok := strings.Cut(line, ":")
	words := strings.Fields(head)
	if !ok || len(words) == 0 || len(words) > 2 {
		return HeaderMatch{}, fmt.Errorf("%q is not of the form: chain header: regular expression", line)
	}
	h := HeaderMatch{Header: words[len(words)-1]}
	if len(words) == 2 {
		h.Action = Action(words[0])
		if !slices.Contains(matchChains, h.Action) {
			return HeaderMatch{}, fmt.Errorf("%q is no chain: one of %v", words[0], matchChains)
		}
	}
	var err error
	if h.Pattern, err = regexp.Compile("(?i)" + strings.TrimSpace(pattern)); err != nil {
		return HeaderMatch{}, fmt.Errorf("%q: %w", line, err)
	}
	return h, nil
}

func headerMatches(v string) error {
	_, err := ParseHeaderMatches(v)
	return err
}
