package stage

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// seenKey tells whether two entries are the same message, sent again by an MTA that
// lost our answer: target, sender, From, Message-ID and body. Without a Message-ID a
// script's daily mail would look like that too, so then all octets count.
func seenKey(e *queue.Entry) string {
	m := message.Parse(e.Raw)
	id, content := m.MessageID(), m.Body()
	if id == "" {
		content = e.Raw
	}
	h := sha256.New()
	for _, s := range []string{strings.ToLower(string(e.Target.Address())), e.Sender.Key(), strings.Join(m.All("From"), "\n"), id} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(content)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}

// window is how long copies are remembered; 0: not at all.
func window(l *lists.List) time.Duration {
	d, err := lists.ParseDuration(l.Settings.Text("repeat_window"))
	if err != nil {
		return 0
	}
	return d
}

// repeat finds an accepted or held copy within the window.
func repeat(w *queue.Work) (time.Time, bool) {
	at, ok := w.State.Seen(seenKey(w.Entry))
	return at, ok && w.Entry.Received.Sub(at) < window(w.List)
}

// seen remembers the entry for the window.
func seen(w *queue.Work) []store.Change {
	d := window(w.List)
	if d == 0 {
		return nil
	}
	at := w.Entry.Received
	return []store.Change{store.MarkSeen{Key: seenKey(w.Entry), At: at, Until: at.Add(d)}}
}

// unseen forgets an entry: what a moderator refused is judged anew if it comes again.
// The mark is put far outside any window, and goes with the next one that is made.
func unseen(e *queue.Entry) store.Change {
	past := time.Unix(1, 0).UTC()
	return store.MarkSeen{Key: seenKey(e), At: past, Until: past}
}
