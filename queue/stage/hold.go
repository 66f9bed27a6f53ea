package stage

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
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
func hold(w *queue.Work, v lists.Verdict) (*queue.Outcome, error) {
	e := w.Entry
	data, err := spool.Encode(e)
	if err != nil {
		return nil, fmt.Errorf("hold entry %s: %w", e.ID, err)
	}
	m, sum := message.Parse(e.Raw), sha256.Sum256(data)
	post := store.HeldPost{
		ID: heldID(w), From: shown(from(e, m)), Subject: shown(message.DecodeHeader(m.Get("Subject"))),
		MessageID: shown(m.MessageID()), Rule: v.Rule, Reason: v.Reason,
		Size: int64(len(e.Raw)), Since: e.Received, Sum: hex.EncodeToString(sum[:]),
	}
	return &queue.Outcome{
		Event: "held", Reason: reason(v), Verdict: &v,
		Changes:  append(seen(w), store.HoldPost{Post: post}),
		Children: []queue.Child{{File: &queue.File{Path: path.Join("held", post.ID), Data: data}}},
	}, nil
}

func heldID(w *queue.Work) string {
	sum := sha256.Sum256([]byte(w.Entry.ID))
	name := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
	for n := heldIDLen; n < len(name); n++ {
		if _, taken := w.State.HeldPost(name[:n]); !taken {
			return name[:n]
		}
	}
	return name
}

// from is the author's address, or what stands in its place.
func from(e *queue.Entry, m *message.Message) string {
	if as := m.Addresses("From"); len(as) > 0 {
		return string(as[0])
	}
	return string(e.Sender)
}

// shown is a sender's text for a terminal: one line, no control characters, not long.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > shownLen {
		s = strings.ToValidUTF8(s[:shownLen], "") + "..."
	}
	return s
}

// LoadHeld reads a held post. spool.CorruptError if its file is not what was held.
func LoadHeld(_ context.Context, f fsys.FS, list lists.ID, p store.HeldPost) (*queue.Entry, error) {
	name := path.Join("lists", string(list), "held", p.ID)
	data, err := fsys.ReadFile(f, name, spool.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("load held post: %w", err)
	}
	if sum := sha256.Sum256(data); p.Sum != "" && hex.EncodeToString(sum[:]) != p.Sum {
		return nil, &spool.CorruptError{Name: name, Why: "its checksum is not the one in the list's log"}
	}
	e, err := spool.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("load held post %s: %w", p.ID, err)
	}
	return e, nil
}

// ReleaseHeld lets a held post pass: it goes through the pipeline under a new name.
// by names who decided, for the header and the trace.
func ReleaseHeld(e *queue.Entry, p store.HeldPost, by string) *queue.Outcome {
	c := *e
	c.Queue, c.ID = queue.Pipeline, ""
	c.Meta.Approved, c.Meta.ApprovedBy = true, by
	return &queue.Outcome{
		Event: "released", Reason: "let pass by " + by,
		Changes:  []store.Change{store.DropHeld{ID: p.ID}},
		Children: []queue.Child{{Entry: &c}},
	}
}

// RejectHeld sends a held post back to its poster with a reason.
func RejectHeld(e *queue.Entry, p store.HeldPost, why string) *queue.Outcome {
	o := reject(e, lists.Verdict{Action: lists.ActionReject, Rule: "moderator", Reason: why})
	o.Changes = []store.Change{store.DropHeld{ID: p.ID}, unseen(e)}
	return o
}

// DiscardHeld drops a held post.
func DiscardHeld(e *queue.Entry, p store.HeldPost, by string) *queue.Outcome {
	return &queue.Outcome{
		Event: "discarded", Reason: "discarded by " + by,
		Changes: []store.Change{store.DropHeld{ID: p.ID}, unseen(e)},
	}
}
