package templates

import (
	"embed"
	"slices"
	"strings"
)

// texts has a file for each language: the templates one after the other, each below
// a line "=== <name>".
//
//go:embed text/*.txt
var texts embed.FS

// Languages are the languages that are built in, with Mailman's codes. English is
// complete, and what others fall back to.
var Languages = []string{"en", "de", "es", "fr", "nl", "zh_CN"}

const (
	english = "en"
	mark    = "=== "
)

// Builtin is the text of a template that is built in; false: none in that language.
func Builtin(n Name, lang string) (string, bool) {
	if !slices.Contains(Languages, lang) {
		return "", false
	}
	data, err := texts.ReadFile("text/" + lang + ".txt")
	if err != nil {
		return "", false
	}
	_, text, ok := strings.Cut("\n"+string(data), "\n"+mark+string(n)+"\n")
	if !ok {
		return "", false
	}
	text, _, _ = strings.Cut("\n"+text, "\n"+mark)
	if text = strings.Trim(text, "\n"); text != "" {
		text += "\n"
	}
	return text, true
}

// language is the code of a language as we know it: "de-AT" and "de_AT" are de unless
// a site has its own; "" if it cannot be a code.
func language(code string) string {
	code = strings.ReplaceAll(strings.TrimSpace(code), "-", "_")
	for i, r := range code {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') || i > 10 {
			return ""
		}
	}
	for _, l := range Languages {
		if strings.EqualFold(l, code) {
			return l
		}
	}
	return code
}

// fallbacks are the languages to look for, in order, each once.
func fallbacks(codes ...string) []string {
	var out []string
	add := func(c string) {
		if c != "" && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, c := range append(codes, english) {
		c = language(c)
		add(c)
		base, _, _ := strings.Cut(c, "_")
		for _, l := range Languages {
			if have, _, _ := strings.Cut(l, "_"); base != "" && strings.EqualFold(have, base) {
				add(l)
			}
		}
	}
	return out
}
