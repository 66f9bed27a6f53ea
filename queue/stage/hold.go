package stage

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"

	"qrunner/lists"
	"qrunner/lists/rules"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// heldIDLen is how many letters of the hash name a held post (50 bits), unless that
// name is taken.
const heldIDLen = 10

// shownLen is how much of a sender's text the list of held posts keeps, in octets.
const shownLen = 200

// hold keeps a post for the moderators: the entry as a file of the list, and what is
// to be listed in the state. The name is made from the entry's own, so one message
// to two lists is two held posts.
func (c Config) hold(ctx context.Context, w *queue.Work, v lists.Verdict) (*queue.Outcome, error) {
	e := w.Entry
	data, err := spool.Encode(e)
	if err != nil {
		return nil, fmt.Errorf("hold entry %s: %w", e.ID, err)
	}
	token, err := c.token()
	if err != nil {
		return nil, fmt.Errorf("hold entry %s: %w", e.ID, err)
	}
	p := c.post(w)
	m, sum := p.Message, sha256.Sum256(data)
	post := store.HeldPost{
		ID: heldID(w), From: shown(from(p)), Subject: subject(m), MessageID: shown(m.MessageID()), Rule: v.Rule, Reason: clip(v.Reason, 1000),
		Size: int64(len(e.Raw)), Since: e.Received, Sum: hex.EncodeToString(sum[:]), Token: token, Trace: e.Trace,
	}
	o := &queue.Outcome{
		Event: "held", Reason: v.String(), Verdict: &v,
		Changes:  append(seen(w), store.HoldPost{Post: post}),
		Children: []queue.Child{{File: &queue.File{Path: path.Join("held", post.ID), Data: data}}},
	}
	if err := c.tellPoster(ctx, w, o, p, v); err != nil {
		return nil, fmt.Errorf("hold entry %s: %w", e.ID, err)
	}
	if err := c.tellModerators(ctx, w, o, post); err != nil {
		return nil, fmt.Errorf("hold entry %s: %w", e.ID, err)
	}
	return o, nil
}

// token is the secret by which moderators decide about a post: 130 bits.
func (c Config) token() (string, error) {
	raw := make([]byte, 17)
	if _, err := io.ReadFull(c.Random, raw); err != nil {
		return "", fmt.Errorf("make token: %w: %w", queue.ErrTrouble, err)
	}
	return letters(raw)[:26], nil
}

func letters(b []byte) string {
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

func heldID(w *queue.Work) string {
	sum := sha256.Sum256([]byte(w.Entry.ID))
	name := letters(sum[:])
	for n := heldIDLen; n < len(name); n++ {
		if _, taken := w.State.HeldPost(name[:n]); !taken {
			return name[:n]
		}
	}
	return name
}

// from is who to name as the sender: an author, or what stands in his place.
func from(p *lists.Post) string {
	if as := append(p.Message.Addresses("From"), rules.Senders(p)...); len(as) > 0 {
		return string(as[0])
	}
	return string(p.Sender)
}

// shown is a sender's text for a terminal: one line, no control characters, not long.
func shown(s string) string { return clip(plain(s), shownLen) }

// lines is a text of several lines for a notice.
func lines(s string) string {
	var out []string
	for l := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		out = append(out, plain(l))
	}
	return strings.Join(out, "\n")
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

func clip(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
