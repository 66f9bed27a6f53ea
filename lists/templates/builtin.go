package templates

import (
	"embed"
	"fmt"
	"strings"
	"sync"
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
	text, ok := builtins()[lang][n]
	return text, ok
}

// builtins reads the embedded files once.
var builtins = sync.OnceValue(func() map[string]map[Name]string {
	out := map[string]map[Name]string{}
	for _, lang := range Languages {
		data, err := texts.ReadFile("text/" + lang + ".txt")
		if err != nil {
			panic(fmt.Sprintf("templates: %v", err)) // embedded, and tested
		}
		out[lang] = sections(string(data))
	}
	return out
})

func sections(file string) map[Name]string {
	out := map[Name]string{}
	for _, s := range strings.Split("\n"+unix(file), "\n"+mark)[1:] {
		name, text, _ := strings.Cut(s, "\n")
		text = strings.Trim(text, "\n")
		if text != "" {
			text += "\n"
		}
		out[Name(strings.TrimSpace(name))] = text
	}
	return out
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
		for _, have := range out {
			if have == c {
				return
			}
		}
		if c != "" {
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
