package stage

import (
	"cmp"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/queue"
)

// reject tells the poster, if that can be done without answering a machine, and without
// telling the same address too much in a day.
func reject(w *queue.Work, v lists.Verdict) *queue.Outcome {
	o := &queue.Outcome{Event: "rejected", Reason: v.String(), Verdict: &v}
	reply(w, o, rejection(w.Entry, message.Parse(w.Entry.Raw), cmp.Or(v.Notice, v.Reason)))
	return o
}

// rejection is the notice to the poster. It quotes nothing but the subject: a rejected
// post may be forged.
func rejection(e *queue.Entry, m *message.Message, why string) notice {
	return answer(e, m, "Your message to "+string(e.List)+" was rejected", fmt.Sprintf(
		"Your message to %s was not distributed.\n\nReason:  %s\nSubject: %s\n\nQuestions go to %s.\n",
		e.List, lines(why), subject(m), e.List.Address(lists.SubOwner)))
}

func subject(m *message.Message) string { return shown(message.DecodeHeader(m.Get("Subject"))) }
