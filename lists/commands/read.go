package commands

import (
	"regexp"
	"slices"
	"strings"
)

// Limits on what is read of a mail: lines that are not empty, lines that are no command
// (then it is prose), octets of a line, lines of a block.
const (
	mostLines = 10
	mostBad   = 3
	maxLine   = 4096
	mostBlock = 1000
)

// Written is a verb as somebody wrote it.
type Written struct {
	Verb Verb
	// Text is the line, for the answer.
	Text string
	// Lines and Block are for Asked.
	Lines [][]string
	Block []string
}

// Read finds the verbs of a table in a subject and in the first lines of a text. Case, and
// punctuation at the end of the first word, do not count; the same line counts once. bad
// are lines that begin with no verb.
func Read(table []Verb, subject string, own []string) (out []Written, bad []string) {
	r := &reader{table: table}
	r.line(Unprefixed(subject))
	lines := 0
	for i := 0; i < len(own) && !r.stop && lines < mostLines && len(bad) < mostBad; i++ {
		if strings.TrimSpace(own[i]) == "" {
			continue
		}
		lines++
		if !r.line(own[i]) {
			bad = append(bad, shown(strings.TrimSpace(own[i])))
			continue
		}
		if n := len(r.out) - 1; r.fresh && r.out[n].Verb.Block {
			block := blockOf(own[i+1:])
			r.out[n].Block, i = block, i+len(block)
		}
	}
	return r.out, bad
}

type reader struct {
	table []Verb
	out   []Written
	seen  []string
	stop  bool
	fresh bool // the last line has become the last of out
}

// line takes a line that begins with a verb.
func (r *reader) line(text string) bool {
	r.fresh = false
	if len(text) > maxLine || r.stop {
		return false
	}
	words := strings.Fields(strings.Trim(text, "*_ \t"))
	if len(words) == 0 {
		return false
	}
	name := strings.ToLower(strings.TrimRight(words[0], ".,;:!*_"))
	i := slices.IndexFunc(r.table, func(v Verb) bool { return slices.Contains(v.Names, name) })
	if i < 0 {
		return false
	}
	v, args := r.table[i], words[1:]
	r.stop = v.Stop
	key := strings.ToLower(v.Names[0] + " " + strings.Join(args, " "))
	if slices.Contains(r.seen, key) {
		return true
	}
	r.seen = append(r.seen, key)
	text = shown(strings.Join(words, " "))
	if j := slices.IndexFunc(r.out, func(w Written) bool { return w.Verb.Names[0] == v.Names[0] }); v.Gather && j >= 0 {
		r.out[j].Lines, r.out[j].Text = append(r.out[j].Lines, args), r.out[j].Text+"\n"+text
		return true
	}
	r.out, r.fresh = append(r.out, Written{Verb: v, Text: text, Lines: [][]string{args}}), true
	return true
}

// blockOf is the lines up to an empty one, or "end".
func blockOf(own []string) []string {
	for i, l := range own {
		if l = strings.TrimSpace(l); l == "" || strings.EqualFold(l, "end") || strings.EqualFold(l, "stop") || i == mostBlock {
			return own[:i]
		}
	}
	return own
}

// Unprefixed is a subject without what mail programs put before it in an answer: "Re:",
// "AW: ", "Réf :", "回复：" and the like, once or often.
func Unprefixed(subject string) string {
	prefix := regexp.MustCompile(`^[\s\p{Z}]*\p{L}{1,4}(?:\[\d{1,3}\])?[\s\p{Z}]*[:：][\s\p{Z}]*`)
	for range 20 {
		cut := prefix.FindString(subject)
		if cut == "" {
			break
		}
		subject = subject[len(cut):]
	}
	return strings.TrimSpace(subject)
}
