package digest

import (
	"fmt"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
)

// Issue is a digest in the making. Nothing in it is changed.
type Issue struct {
	List *lists.List
	// Title is the list's name for people.
	Title          string
	Volume, Number int
	Date           time.Time
	Posts          []Post
	// Masthead, Header and Footer are the list's texts, with LF for line ends; empty:
	// none.
	Masthead, Header, Footer string
	// Language is that of the digest's own words; English where we do not know it.
	Language string
	// MaxPart is how large a part of a post may be, in octets; 0: no limit. What is
	// signed or encrypted stays whole in a MIME digest, whatever its size.
	MaxPart int
}

// Post is one post of a digest.
type Post struct {
	// Number is that of the post on its list.
	Number uint64
	// Raw is the message; nil: it was lost.
	Raw []byte
}

// Name is "Ant Digest, Vol 1, Issue 2": listname, the word, volume and issue, as
// RFC 1153 wants them in the subject.
func (i *Issue) Name() string {
	return fmt.Sprintf("%s Digest, Vol %d, Issue %d", message.OneLine(i.Title), i.Volume, i.Number)
}

// header is what both kinds of digest begin with. kind makes their message ids differ.
func (i *Issue) header(kind string) *message.Message {
	id := i.List.ID
	m := message.Parse([]byte("MIME-Version: 1.0\r\n\r\n"))
	m.Set("From", message.EncodePhrase(i.Title)+" <"+string(id.Address(lists.SubRequest))+">")
	m.Set("To", string(id.Posting()))
	m.Set("Reply-To", string(id.Posting()))
	m.Set("Subject", message.EncodeHeader(i.Name()))
	m.Set("Date", i.Date.UTC().Format(time.RFC1123Z))
	// The same at every try, and another for a list that was made anew.
	m.Set("Message-ID", fmt.Sprintf("<digest.%s.%d.%d.%s@%s>", i.List.Incarnation, i.Volume, i.Number, kind, id.Domain()))
	return m
}

// messages are the posts, parsed; what was lost is a short message that says so.
func (i *Issue) messages() []*message.Message {
	out := make([]*message.Message, len(i.Posts))
	for k, p := range i.Posts {
		out[k] = message.Parse(p.Raw)
		if p.Raw == nil {
			out[k] = i.lost(p)
		}
	}
	return out
}

func (i *Issue) lost(p Post) *message.Message {
	m := message.Parse([]byte("MIME-Version: 1.0\r\n\r\n"))
	m.Set("From", string(i.List.ID.Address(lists.SubOwner)))
	m.Set("Date", i.Date.UTC().Format(time.RFC1123Z))
	m.Set("Subject", fmt.Sprintf("(%d)", p.Number))
	setText(m, fmt.Sprintf(i.words().lost, p.Number)+"\n")
	return m
}

// setText makes text the message's body, in ASCII or quoted-printable.
func setText(m *message.Message, text string) {
	body := []byte(strings.ReplaceAll(text, "\n", "\r\n"))
	if !eightBit(body) {
		m.Set("Content-Type", "text/plain; charset=us-ascii")
		m.Del("Content-Transfer-Encoding")
	} else {
		m.Set("Content-Type", "text/plain; charset=utf-8")
		m.Set("Content-Transfer-Encoding", "quoted-printable")
		body = message.QuotedPrintable(body)
	}
	m.SetBody(body)
}

func eightBit(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return true
		}
	}
	return false
}
