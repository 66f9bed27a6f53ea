package liststest

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// BreaksRFC lists what a message that goes out breaks of RFC 5322 (limits, fields that are
// there once), RFC 2047, 2369, 2919, 5064 and 8058. Octets that the author's message, as
// it came, already had are excused: a list need not mend them.
func BreaksRFC(raw, came []byte) []string {
	c := rfc{m: message.Parse(raw), came: came}
	c.lines(raw)
	c.fields()
	c.listFields()
	c.oneClick()
	return c.found
}

type rfc struct {
	m     *message.Message
	came  []byte
	found []string
}

func (c *rfc) say(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

var fieldLine = regexp.MustCompile(`^([!-9;-~]+:|[ \t])`)

// lines: RFC 5322 §2.1.1, §2.3, RFC 5321 §2.3.8.
func (c *rfc) lines(raw []byte) {
	for i, line := range bytes.SplitAfter(raw, []byte("\n")) {
		text := bytes.TrimSuffix(line, []byte("\r\n"))
		if bytes.ContainsAny(text, "\r\n") {
			c.say("RFC 5321 2.3.8: CR or LF alone in line %d", i+1)
		}
		if len(text) > 998 && !bytes.Contains(c.came, text) {
			c.say("RFC 5322 2.1.1: line %d has %d octets", i+1, len(text))
		}
	}
	header, _, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		c.say("RFC 5322 2.1: no empty line behind the header")
	}
	for line := range bytes.SplitSeq(header, []byte("\r\n")) {
		if len(bytes.TrimSpace(line)) == 0 || len(line) > 998 || bytes.IndexByte(line, 0) >= 0 || !fieldLine.Match(line) {
			c.say("RFC 5322 2.2: header line %.40q", line)
		}
	}
}

var encodedWord = regexp.MustCompile(`=\?[!-~]+\?[bBqQ]\?[^? ]*\?=`)

// fields: RFC 5322 §3.6 and RFC 2047 §2.
func (c *rfc) fields() {
	for _, name := range []string{"From", "Date", "Message-ID"} {
		if n := len(c.m.All(name)); n != 1 {
			c.say("RFC 5322 3.6: %d fields %s", n, name)
		}
	}
	for _, name := range []string{"Sender", "Reply-To", "To", "Cc", "Bcc", "In-Reply-To", "References", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"} {
		if n := len(c.m.All(name)); n > 1 {
			c.say("RFC 5322 3.6: %d fields %s", n, name)
		}
	}
	if _, err := time.Parse(time.RFC1123Z, c.m.Get("Date")); err != nil && !bytes.Contains(c.came, []byte(c.m.Get("Date"))) {
		c.say("RFC 5322 3.3: Date %q", c.m.Get("Date"))
	}
	for _, f := range c.m.Fields() {
		for _, w := range encodedWord.FindAllString(string(f.Raw), -1) {
			if len(w) > 75 && !bytes.Contains(c.came, []byte(w)) {
				c.say("RFC 2047 2: an encoded-word of %d octets in %s", len(w), f.Name)
			}
		}
	}
	came := message.Parse(c.came)
	for _, name := range []string{"From", "Reply-To", "To", "Cc"} {
		for _, b := range c.m.Mailboxes(name) {
			if b.Address.Null() && !slices.ContainsFunc(came.Mailboxes(name), func(b message.Mailbox) bool { return b.Address.Null() }) {
				c.say("RFC 5322 3.4: %s: %q", name, b.Raw)
			}
		}
	}
}

var dotAtom = regexp.MustCompile("^[!#$%&'*+/=?^_`{|}~0-9A-Za-z-]+([.][!#$%&'*+/=?^_`{|}~0-9A-Za-z-]+)*$")

// listFields: RFC 2919 §2, §3, RFC 2369 §2, §3, RFC 5064 §2.
func (c *rfc) listFields() {
	if n := len(c.m.All("List-Id")); n != 1 {
		c.say("RFC 2919 3: %d fields List-Id", n)
	}
	id := c.m.Get("List-Id")
	phrase, inner, ok := strings.Cut(id, "<")
	if strings.HasPrefix(phrase, `"`) { // the phrase may have brackets
		i := strings.LastIndexByte(id, '<')
		phrase, inner = id[:i], id[i+1:]
	}
	inner, rest, closed := strings.Cut(inner, ">")
	if !ok || !closed || rest != "" || len(inner) > 255 || !dotAtom.MatchString(inner) || !strings.Contains(inner, ".") || strings.ContainsAny(phrase, "()") && !strings.HasPrefix(phrase, `"`) {
		c.say("RFC 2919 2: List-Id %q", id)
	}
	for _, name := range []string{"List-Help", "List-Subscribe", "List-Unsubscribe", "List-Post", "List-Owner", "List-Archive", "Archived-At"} {
		vs := c.m.All(name)
		if len(vs) > 1 {
			c.say("RFC 2369 3: %d fields %s", len(vs), name)
		}
		for _, v := range vs {
			c.urls(name, v)
		}
	}
	if len(c.m.All("X-BeenThere")) == 0 && !bytes.Contains(c.came, []byte("X-BeenThere")) {
		c.say("no loop mark")
	}
}

// urls are what a field has between angle brackets.
func (c *rfc) urls(name, value string) []string {
	if name == "List-Post" && value == "NO" {
		return nil
	}
	var out []string
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		u := strings.TrimSuffix(strings.TrimPrefix(item, "<"), ">")
		parsed, err := url.Parse(u)
		if len(u) != len(item)-2 || strings.ContainsAny(u, " \t<>") || err != nil || !slices.Contains([]string{"mailto", "https", "http"}, parsed.Scheme) {
			c.say("RFC 2369 2: %s: %q", name, item)
			continue
		}
		if parsed.Scheme == "mailto" {
			if _, err := mailaddr.Parse(parsed.Opaque); err != nil {
				c.say("RFC 2369 2: %s: %q: %v", name, item, err)
			}
		}
		out = append(out, u)
	}
	return out
}

// oneClick: RFC 8058 §3.1, §4.
func (c *rfc) oneClick() {
	vs := c.m.All("List-Unsubscribe-Post")
	if len(vs) == 0 {
		return
	}
	if len(vs) != 1 || vs[0] != "List-Unsubscribe=One-Click" {
		c.say("RFC 8058 3.1: List-Unsubscribe-Post %q", vs)
	}
	https := 0
	for _, u := range c.urls("List-Unsubscribe", c.m.Get("List-Unsubscribe")) {
		if strings.HasPrefix(u, "https:") {
			https++
		}
	}
	if https != 1 {
		c.say("RFC 8058 3.1: %d https URLs in List-Unsubscribe", https)
	}
	covered := slices.ContainsFunc(c.m.All("DKIM-Signature"), func(v string) bool {
		_, h, _ := strings.Cut(strings.ToLower(v), "h=")
		h, _, _ = strings.Cut(h, ";")
		names := strings.Split(strings.NewReplacer(" ", "", "\t", "").Replace(h), ":")
		return slices.Contains(names, "list-unsubscribe") && slices.Contains(names, "list-unsubscribe-post")
	})
	if !covered {
		c.say("RFC 8058 4: no signature names List-Unsubscribe and List-Unsubscribe-Post")
	}
}
