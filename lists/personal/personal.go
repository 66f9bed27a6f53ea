// Package personal fills the gaps of a post whose copies differ: the member's name and
// address in header and footer, in the charset and transfer encoding of the part that
// they stand in. What can be done once for all copies is done once: see Compile.
package personal

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"qrunner/lists/mailaddr"
)

// Vars are the variables that stand for a recipient's values, with Mailman's names.
var Vars = []string{
	"user_address", "user_email", "user_delivered_to", "user_language", "user_name", "user_name_or_address", "user_optionsurl",
}

// Person is a recipient's values.
type Person struct {
	Address mailaddr.Address
	// Name may be empty; it is made fit for one line where it is used.
	Name     string
	Language string
	// Options is the URL of the list's page, or of the address to write to.
	Options string
}

// value is what a variable stands for. The values of a person come from outside: they
// are one line without control characters, and no longer than maxValue octets.
func (p *Person) value(name string) string {
	switch name {
	case "user_address", "user_email", "user_delivered_to":
		return string(p.Address)
	case "user_language":
		return p.Language
	case "user_name":
		return line(p.Name)
	case "user_name_or_address":
		if n := line(p.Name); n != "" {
			return n
		}
		return string(p.Address)
	case "user_optionsurl":
		return p.Options
	}
	return ""
}

// maxValue is the longest value: what an address may have (RFC 5321 §4.5.3.1).
const maxValue = 320

// line makes a name fit for a line of text.
func line(s string) string {
	if len(s) > maxValue {
		s = s[:maxValue]
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

// variable is $name, ${name} or $$.
const variable = `\$(\$|\w+|\{\w+\})`

// Escape makes plain text of s in a Gap's Text: no dollar sign of it means anything.
func Escape(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// Expand replaces the variables of a template by values, in one pass: a value is plain
// text, never looked at again. Variables that are not in values stay as they are written;
// those in Vars, if personalise is set, stay variables. The result is the Text of a Gap.
func Expand(template string, values map[string]string, personalise bool) string {
	var b strings.Builder
	for _, p := range parse(template) {
		v, known := values[p.name]
		switch {
		case p.name == "":
			b.WriteString(Escape(p.text))
		case known:
			b.WriteString(Escape(v))
		case personalise && slices.Contains(Vars, p.name):
			b.WriteString("${" + p.name + "}")
		default:
			b.WriteString(Escape(p.text))
		}
	}
	return b.String()
}

// Plain is a Gap's Text with the variables as they are written.
func Plain(text string) string {
	var b strings.Builder
	for _, p := range parse(text) {
		b.WriteString(p.text)
	}
	return b.String()
}

// Personal reports whether a Gap's Text has a variable.
func Personal(text string) bool {
	return slices.ContainsFunc(parse(text), func(p part) bool { return p.name != "" })
}

// Sample fills a Gap's Text for each of the people, and tells which characters beyond
// ASCII come up; with the text itself it says what a charset has to have.
func Sample(text string, people func(yield func(*Person) bool)) string {
	names := map[string]bool{}
	for _, p := range parse(text) {
		if p.name != "" {
			names[p.name] = true
		}
	}
	seen := map[rune]bool{}
	var b strings.Builder
	if len(names) == 0 {
		return ""
	}
	for person := range people {
		for name := range names {
			for _, r := range person.value(name) {
				if r >= 0x80 && !seen[r] {
					seen[r] = true
					b.WriteRune(r)
				}
			}
		}
	}
	return b.String()
}

// Widest is a Gap's Text with values as long as they can be: for the limit of a line.
func Widest(text string) string {
	var b strings.Builder
	for _, p := range parse(text) {
		if p.name == "" {
			b.WriteString(p.text)
		} else {
			b.WriteString(strings.Repeat("x", maxValue))
		}
	}
	return b.String()
}

// part is a piece of a text: plain text, or a variable as it was written.
type part struct{ text, name string }

// parse takes a text apart; $$ is part of the plain text as one sign.
func parse(text string) []part {
	var out []part
	at := 0
	plain := func(s string) {
		if s == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].name == "" {
			out[n-1].text += s
			return
		}
		out = append(out, part{text: s})
	}
	for _, m := range regexp.MustCompile(variable).FindAllStringIndex(text, -1) {
		plain(text[at:m[0]])
		whole := text[m[0]:m[1]]
		at = m[1]
		if whole == "$$" {
			plain("$")
			continue
		}
		out = append(out, part{text: whole, name: strings.Trim(whole[1:], "{}")})
	}
	plain(text[at:])
	return out
}
