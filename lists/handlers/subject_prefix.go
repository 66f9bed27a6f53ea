package handlers

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
)

// A reply's beginning in the languages whose mailers do not write Re:, runs of them,
// with counters.
const replyRun = `(?i)^\s*((re|aw|sv|vs)\s*(\[\d+\])?\s*:\s*)+`

// number is where a prefix has the post's number: %d, %05d.
const number = `%0?\d*d`

// subjectPrefix puts the list's prefix before the subject: once, whatever is there
// already, and with its own number. The rest of the subject is not decoded: encoded-
// words stay as they are, unless one has the old prefix inside.
func subjectPrefix(_ context.Context, p *lists.Post) error {
	setting := strings.TrimSpace(p.List.Settings.Text("subject_prefix"))
	if setting == "" {
		return nil
	}
	old, err := oldPrefix(setting)
	if err != nil {
		return fmt.Errorf("read setting subject_prefix: %w", err)
	}
	rest := withoutPrefix(p.Message.Get("Subject"), old)
	reply := regexp.MustCompile(replyRun).FindString(rest)
	rest = strings.TrimSpace(rest[len(reply):])
	if reply != "" {
		rest = strings.TrimSpace("Re: " + rest)
	}
	if rest == "" {
		rest = "(no subject)"
	}
	prefix := message.EncodeHeader(numbered(setting, p.PostID))
	if prefix != setting && strings.HasPrefix(prefix, "=?") && strings.HasPrefix(rest, "=?") {
		// The blank between two encoded-words is not shown, so it goes inside.
		prefix = message.EncodeHeader(numbered(setting, p.PostID) + " ")
	}
	p.Message.Set("Subject", prefix+" "+rest)
	return nil
}

// numbered is the prefix with the post's number.
func numbered(prefix string, n uint64) string {
	return regexp.MustCompile(number).ReplaceAllStringFunc(prefix, func(verb string) string {
		width, _ := strconv.Atoi(strings.Trim(verb, "%d"))
		digits := strconv.FormatUint(n, 10)
		pad := " "
		if strings.HasPrefix(verb, "%0") {
			pad = "0"
		}
		return strings.Repeat(pad, max(0, min(width, 20)-len(digits))) + digits
	})
}

// oldPrefix matches the prefix with any number.
func oldPrefix(prefix string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?i)\s*`)
	at := 0
	for _, verb := range regexp.MustCompile(number).FindAllStringIndex(prefix, -1) {
		b.WriteString(regexp.QuoteMeta(prefix[at:verb[0]]) + `\s*\d+`)
		at = verb[1]
	}
	b.WriteString(regexp.QuoteMeta(prefix[at:]) + `\s*`)
	return regexp.Compile(b.String())
}

// withoutPrefix takes the old prefix out of a raw subject, wherever it stands: as it
// is, inside an encoded-word, or across several.
func withoutPrefix(raw string, old *regexp.Regexp) string {
	raw = old.ReplaceAllString(raw, " ")
	if !old.MatchString(message.DecodeHeader(raw)) {
		return strings.TrimSpace(raw)
	}
	words := strings.Split(raw, " ")
	for i, w := range words {
		if text := message.DecodeHeader(w); text != w && old.MatchString(text) {
			words[i] = recoded(text, old)
		}
	}
	raw = strings.Join(words, " ")
	if text := message.DecodeHeader(raw); old.MatchString(text) {
		raw = recoded(text, old)
	}
	return strings.TrimSpace(raw)
}

// recoded is a decoded text without the old prefix, ready for the header.
func recoded(text string, old *regexp.Regexp) string {
	return message.EncodeHeader(strings.TrimLeft(old.ReplaceAllString(text, " "), " "))
}
