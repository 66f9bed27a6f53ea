package commands

import (
	"regexp"
	"strings"
)

// Call is a command that somebody wrote.
type Call struct {
	Command Command
	// ID is the held post that was named; "" if none was.
	ID string
	// Text is what followed behind a colon.
	Text string
}

// Find reads the commands of a table out of a subject and the lines of a text. A command
// is a whole line (case, blanks and punctuation at its end do not count); a word in a
// sentence is none. The same command about the same post counts once.
func Find(table []Command, subject string, own []string) []Call {
	var out []Call
	add := func(c Call) {
		for _, o := range out {
			if o.Command.Name == c.Command.Name && o.ID == c.ID {
				return
			}
		}
		out = append(out, c)
	}
	if c, ok := parse(table, subject); ok {
		add(c)
	}
	for i, line := range own {
		c, ok := parse(table, line)
		if !ok {
			continue
		}
		for _, more := range own[i+1:] { // a long reason was wrapped
			if _, other := parse(table, more); c.Text == "" || more == "" || other {
				break
			}
			c.Text += " " + more
		}
		add(c)
	}
	return out
}

// callForm is a line: words, perhaps a held post's id, perhaps a text behind a colon.
const callForm = `^[*_ \t]*([a-z]+(?:[ \t]+always)?)(?:[ \t]+([a-z2-7]{10,52}))?[*_ \t]*(?::[ \t]*(.*?)|[ \t.!,;*_]*)$`

func parse(table []Command, line string) (Call, bool) {
	if len(line) > 4096 {
		return Call{}, false
	}
	m := regexp.MustCompile(`(?i)` + callForm).FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return Call{}, false
	}
	name := strings.Join(strings.Fields(strings.ToLower(m[1])), " ")
	for _, c := range table {
		if c.Name == name && (m[3] == "" || c.Text) {
			return Call{c, strings.ToLower(m[2]), strings.TrimSpace(m[3])}, true
		}
	}
	return Call{}, false
}
