package stage

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
)

// day is what limits on notices are about.
const day = 24 * time.Hour

// answerable: RFC 3834 §2. No report, no automatic message, no list's mail and nobody who
// is a program by name is answered.
func answerable(e *queue.Entry, m *message.Message) bool {
	auto, _, _ := strings.Cut(strings.ToLower(m.Get("Auto-Submitted")), ";")
	if e.Sender.Null() || auto != "" && strings.TrimSpace(auto) != "no" || program(e.Sender) {
		return false
	}
	for _, f := range m.Fields() {
		if strings.HasPrefix(strings.ToLower(f.Name), "list-") {
			return false
		}
	}
	switch strings.ToLower(m.Get("Precedence")) {
	case "bulk", "junk", "list":
		return false
	}
	return true
}

// program recognises addresses that no person reads.
func program(a mailaddr.Address) bool {
	local := strings.ToLower(a.Local())
	for _, s := range []string{"-request", "-bounces", "-owner", "-confirm", "-join", "-leave"} {
		if strings.HasSuffix(local, s) || strings.Contains(local, s+"+") {
			return true
		}
	}
	switch local {
	case "mailer-daemon", "noreply", "no-reply", "donotreply", "do-not-reply":
		return true
	}
	return strings.HasPrefix(local, "owner-")
}

// mayAnswer counts an automatic answer to an address; false: it has had its share today.
func mayAnswer(w *queue.Work, a mailaddr.Address) ([]store.Change, bool) {
	return mayTell(w, "answer/"+short(a.Key()), w.List.Settings.Int("max_autoresponses_per_day"))
}

// mayTell counts a notice under a key against a limit for the day; 0: no limit.
func mayTell(w *queue.Work, key string, limit int64) ([]store.Change, bool) {
	if limit == 0 {
		return nil, true
	}
	at := w.Entry.Received
	if int64(w.State.Count(key, at)) >= limit {
		return nil, false
	}
	return []store.Change{store.AddCount{Key: key, At: at, Until: at.Add(day)}}, true
}

// short stands for an address in the state: nobody's address is kept for having written.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// reply adds an answer to the sender of an entry to what comes of it, if it may have one.
func reply(w *queue.Work, o *queue.Outcome, n notice) {
	if !answerable(w.Entry, n.about) || w.List.ID == lists.Site {
		return
	}
	changes, ok := mayAnswer(w, n.to)
	if !ok {
		return
	}
	o.Changes = append(o.Changes, changes...)
	o.Children = append(o.Children, queue.Child{Entry: n.entry(w.List.ID)})
}
