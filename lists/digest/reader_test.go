package digest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	gomessage "github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // go-message decodes by it

	"qrunner/lists/message"
)

// burst is a plain digest as a program of 1990 reads it.
type burst struct {
	preamble []string
	messages []enclosed
	trailer  []string
}

type enclosed struct {
	header [][2]string // name, raw value with its folding
	body   []string
}

// readPlain is a strict reader of RFC 1153.
func readPlain(m *message.Message) (burst, error) {
	var b burst
	if ok, _ := regexp.MatchString(` Digest, Vol \d+, Issue \d+$`, message.DecodeHeader(m.Get("Subject"))); !ok {
		return b, fmt.Errorf("subject %q", m.Get("Subject"))
	}
	root, err := m.Structure()
	if err != nil {
		return b, err
	}
	text, ok := root.Text(m.Body())
	if !ok {
		return b, errors.New("not the charset that it says")
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[len(lines)-1] != "" {
		return b, errors.New("no line end at the end")
	}
	lines = lines[:len(lines)-1]
	at := slices.Index(lines, strings.Repeat("-", 70))
	if at < 0 || lines[at+1] != "" {
		return b, errors.New("no line of 70 hyphens with a blank one behind it")
	}
	b.preamble, lines = lines[:at], lines[at+2:]
	sep := strings.Repeat("-", 30)
	for {
		at := slices.Index(lines, sep)
		if at < 0 {
			break
		}
		if at == 0 || lines[at-1] != "" || lines[at+1] != "" {
			return b, fmt.Errorf("separator without blank lines at %q", lines[max(0, at-1):at+2])
		}
		e, err := readEnclosed(lines[:at-1])
		if err != nil {
			return b, err
		}
		b.messages = append(b.messages, e)
		lines = lines[at+2:]
	}
	b.trailer = lines
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "End of ") || !strings.Contains(lines[0], " Digest") ||
		lines[1] != strings.Repeat("*", len([]rune(lines[0]))) {
		return b, fmt.Errorf("trailer %q", lines)
	}
	return b, nil
}

func readEnclosed(lines []string) (enclosed, error) {
	var e enclosed
	for len(lines) > 0 && lines[0] != "" {
		l := lines[0]
		lines = lines[1:]
		if l[0] == ' ' || l[0] == '\t' {
			if len(e.header) == 0 {
				return e, fmt.Errorf("continuation first: %q", l)
			}
			e.header[len(e.header)-1][1] += "\n" + l
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			return e, fmt.Errorf("no header field: %q", l)
		}
		e.header = append(e.header, [2]string{strings.TrimSpace(name), value})
	}
	last := -1
	for _, h := range e.header {
		k := slices.IndexFunc(kept, func(n string) bool { return strings.EqualFold(n, h[0]) })
		if k <= last {
			return e, fmt.Errorf("field %s is out of order", h[0])
		}
		last = k
	}
	if len(e.header) == 0 {
		return e, errors.New("no header")
	}
	if len(lines) > 0 {
		e.body = lines[1:]
	}
	if n := len(e.body); n > 0 && (strings.TrimSpace(e.body[0]) == "" || strings.TrimSpace(e.body[n-1]) == "") {
		return e, fmt.Errorf("blank lines around the body: %q", e.body)
	}
	return e, nil
}

// readMIME is a MIME digest as go-message reads it: the enclosed messages octet for
// octet, and the texts around them.
func readMIME(t testing.TB, raw []byte) (texts []string, posts []string) {
	t.Helper()
	e, err := gomessage.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("go-message: %v\n%s", err, raw)
	}
	if media, _, _ := e.Header.ContentType(); media != "multipart/mixed" {
		t.Fatalf("it is %s", media)
	}
	for r := e.MultipartReader(); ; {
		p, err := r.NextPart()
		if err == io.EOF {
			return texts, posts
		}
		if err != nil {
			t.Fatalf("go-message: %v", err)
		}
		if media, _, _ := p.Header.ContentType(); media != "multipart/digest" {
			text, err := io.ReadAll(p.Body)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
			continue
		}
		for r := p.MultipartReader(); ; {
			p, err := r.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("go-message: %v", err)
			}
			if media, _, _ := p.Header.ContentType(); media != "message/rfc822" {
				t.Errorf("a post is %s", media)
			}
			text, err := io.ReadAll(p.Body)
			if err != nil {
				t.Fatal(err)
			}
			posts = append(posts, string(text))
		}
	}
}
