package handlers

import (
	"cmp"
	"strings"

	"qrunner/lists"
	"qrunner/lists/personal"
)

// expand replaces the placeholders of a template in one pass: a value is inserted and
// never looked at again. A name that nobody knows stays as it is, and so do the members'.
func expand(l *lists.List, template string) string {
	return personal.Plain(personal.Expand(template, listValues(l), false))
}

// expandFor is expand for copies: the result is the Text of a lists.Gap. The variables of
// members stay in it if the list personalises its posts.
func expandFor(l *lists.List, template string) string {
	return personal.Expand(template, listValues(l), l.Settings.Text("personalize") != "none")
}

func listValues(l *lists.List) map[string]string {
	return map[string]string{
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
}

// displayName is the list's name for people.
func displayName(l *lists.List) string {
	local := l.ID.Local()
	return cmp.Or(l.Settings.Text("display_name"), strings.ToUpper(local[:1])+local[1:])
}
