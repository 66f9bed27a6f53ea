package stage

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/commands"
	"qrunner/lists/message"
	"qrunner/lists/personal"
	"qrunner/lists/store"
	"qrunner/queue"
)

// response is what a list says by itself to whoever writes to one of its addresses.
type response struct {
	// discard: the mail is dropped, the answer is all.
	discard bool
	// notice is the answer, and changes remember it; none where changes is nil.
	notice  notice
	changes []store.Change
}

// The kinds of automatic responses, as in the names of the settings.
const (
	respondPostings = "postings"
	respondOwner    = "owner"
	respondRequests = "requests"
)

// respond works out the automatic response to an entry. One goes to the sender of the
// envelope, once in the grace period (RFC 3834 §2), never to programs and lists. X-Ack: no
// wants none; X-Ack: yes wants one whatever the grace period.
func (c Config) respond(w *queue.Work, m *message.Message, kind string) response {
	set := w.List.Settings
	how := set.Text("autorespond_" + kind)
	if how == "none" || w.List.ID == lists.Site {
		return response{}
	}
	r := response{discard: how == "respond_and_discard"}
	ack := strings.ToLower(strings.TrimSpace(m.Get("X-Ack")))
	if ack == "no" || !answerable(w.Entry, m) || automatic(m) {
		return r
	}
	counts, ok := mayAnswer(w, w.Entry.Sender)
	if !ok {
		return r
	}
	at := w.Entry.Received
	if grace := set.Duration("autoresponse_grace_period"); grace > 0 {
		key := "response/" + kind + "/" + short(w.Entry.Sender.Key())
		if ack != "yes" && w.State.Count(key, at) > 0 {
			return r
		}
		counts = append(counts, store.AddCount{Key: key, At: at, Until: at.Add(grace)})
	}
	r.changes = append([]store.Change{}, counts...)
	to := string(w.Entry.Target.Address())
	text := set.Text("autoresponse_" + kind + "_text")
	if strings.TrimSpace(text) == "" {
		text = "This is an automatic answer: your mail to $posting_address has arrived.\n"
	}
	text = personal.Plain(personal.Expand(text, map[string]string{
		"listname": string(w.List.ID.Posting()), "list_id": w.List.ID.ListID(), "display_name": displayName(w.List),
		"description": set.Text("description"), "posting_address": to, "domain": w.List.ID.Domain(),
		"request_email": string(w.List.ID.Address(lists.SubRequest)), "owner_email": string(w.List.ID.Address(lists.SubOwner)),
	}, false))
	r.notice = answer(w.Entry, m, "Re: "+commands.Unprefixed(subject(m)), text)
	r.notice.ack = "no"
	return r
}

// into adds the answer to what comes of the entry.
func (r response) into(w *queue.Work, o *queue.Outcome) *queue.Outcome {
	if o == nil || r.changes == nil {
		return o
	}
	o.Changes = append(o.Changes, r.changes...)
	o.Children = append(o.Children, queue.Child{Entry: r.notice.entry(w.List.ID)})
	return o
}

// instead is the answer in the place of what would have come of the entry.
func (r response) instead(w *queue.Work) *queue.Outcome {
	return r.into(w, &queue.Outcome{Event: "discarded", Reason: "the list answers such mail by itself and drops it"})
}
