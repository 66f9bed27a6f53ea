package main

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/queue"
)

// shownEntry is an entry for programs. What it does not have is left out.
type shownEntry struct {
	ID         queue.ID         `json:"id,omitempty"`
	Queue      queue.Name       `json:"queue"`
	List       lists.ID         `json:"list"`
	Sender     string           `json:"sender"` // "" is the null sender
	To         string           `json:"to"`
	Received   time.Time        `json:"received,omitzero"`
	Source     string           `json:"source,omitempty"`
	Trace      string           `json:"trace,omitempty"`
	Size       int              `json:"size"`
	UTF8       bool             `json:"utf8,omitempty"`
	EightBit   bool             `json:"eight_bit,omitempty"`
	Recipients []shownRecipient `json:"recipients,omitempty"`
	Approved   bool             `json:"approved,omitempty"`
	ApprovedBy string           `json:"approved_by,omitempty"`
	PostID     uint64           `json:"post_id,omitempty"`
	Bounce     *shownBounce     `json:"bounce,omitempty"`
	From       queue.Name       `json:"from,omitempty"` // shunt: where it was
	Cause      string           `json:"cause,omitempty"`
	Count      int              `json:"count,omitempty"`
	First      time.Time        `json:"first,omitzero"`
	Last       time.Time        `json:"last,omitzero"`
	// Message is the message where that is UTF-8; else it is in Base64.
	Message string `json:"message,omitempty"`
	Base64  []byte `json:"message_base64,omitempty"`
}

type shownRecipient struct {
	Kind    string         `json:"kind"`
	Address string         `json:"address"`
	Member  lists.MemberID `json:"member,omitempty"`
}

type shownBounce struct {
	Recipient shownRecipient `json:"recipient"`
	Reply     string         `json:"reply"`
	Phase     string         `json:"phase"`
}

func shown(e *queue.Entry) shownEntry {
	m := e.Meta
	out := shownEntry{
		ID: e.ID, Queue: e.Queue, List: e.List, Sender: e.Sender.String(), To: e.Target.Address().String(), Received: e.Received, Source: e.Source,
		Trace: e.Trace, Size: len(e.Raw), UTF8: e.UTF8, EightBit: e.EightBit, Approved: m.Approved, ApprovedBy: m.ApprovedBy, PostID: m.PostID,
		From: m.From, Cause: m.Cause, Count: m.Count, First: m.First, Last: m.Last,
	}
	for _, r := range m.Recipients {
		out.Recipients = append(out.Recipients, shownRecipient{string(r.Kind), r.Address.String(), r.Member})
	}
	if b := m.Bounce; b != nil {
		out.Bounce = &shownBounce{shownRecipient{string(b.Recipient.Kind), b.Recipient.Address.String(), b.Recipient.Member}, b.Reply, b.Phase}
	}
	if utf8.Valid(e.Raw) {
		out.Message = string(e.Raw)
	} else {
		out.Base64 = e.Raw
	}
	return out
}

// showEntry prints what the queue knows of a message, then the message.
func (a *app) showEntry(e *queue.Entry, raw bool) error {
	if raw {
		_, err := a.std.out.Write(e.Raw)
		return err
	}
	return a.print(shown(e), func(w io.Writer) {
		fmt.Fprintf(w, "id\t%s\nqueue\t%s\nlist\t%s\nsender\t<%s>\nto\t%s\n", e.ID, e.Queue, e.List, e.Sender, e.Target.Address())
		fmt.Fprintf(w, "received\t%s\nsource\t%s\ntrace\t%s\nsize\t%d\n", e.Received.Format(time.RFC3339), e.Source, e.Trace, len(e.Raw))
		if e.Meta.Cause != "" {
			fmt.Fprintf(w, "cause\t%s\n", e.Meta.Cause)
		}
		fmt.Fprintf(w, "\n%s\n", e.Raw)
	})
}
