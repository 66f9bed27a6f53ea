package handlers

import (
	"cmp"
	"regexp"
	"strings"

	"qrunner/lists"
)

// placeholder is $name, ${name} or $$.
const placeholder = `\$(\$|\w+|\{\w+\})`

// expand replaces the placeholders of a template in one pass: a value is inserted and
// never looked at again. A name that nobody knows stays as it is.
func expand(l *lists.List, template string) string {
	values := map[string]string{
		"$":                   "$",
		"listname":            string(l.ID.Posting()),
		"short_listname":      l.ID.Local(),
		"list_id":             l.ID.ListID(),
		"domain":              l.ID.Domain(),
		"display_name":        displayName(l),
		"description":         l.Settings.Text("description"),
		"info":                l.Settings.Text("info"),
		"posting_address":     string(l.ID.Posting()),
		"unsubscribe_address": string(l.ID.Address(lists.SubLeave)),
		"subscribe_address":   string(l.ID.Address(lists.SubJoin)),
		"request_email":       string(l.ID.Address(lists.SubRequest)),
		"owner_email":         string(l.ID.Address(lists.SubOwner)),
	}
	return regexp.MustCompile(placeholder).ReplaceAllStringFunc(template, func(s string) string {
		if v, ok := values[strings.Trim(s[1:], "{}")]; ok {
			return v
		}
		return s
	})
}

// displayName is the list's name for people.
func displayName(l *lists.List) string {
	local := l.ID.Local()
	return cmp.Or(l.Settings.Text("display_name"), strings.ToUpper(local[:1])+local[1:])
}
