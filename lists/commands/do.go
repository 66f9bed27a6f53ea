package commands

import (
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// Done is what becomes of all verbs of a mail.
type Done struct {
	// Text is the one answer to all of them; "" if there is nothing to say that the
	// notices do not say.
	Text string
	// Asked: the mail asks for something that there is.
	Asked bool
	// Event and Reason are for the trace.
	Event, Reason string
	Changes       []store.Change
	Notices       []subscribe.Notice
}

// Do runs verbs in their order; each sees what those before it changed. a has who asks.
func Do(a Asked, calls []Written, bad []string) (Done, error) {
	var out Done
	var said, why []string
	worth := false
	for i := 0; i < len(calls); i++ {
		c := calls[i]
		a.Lines, a.Block = c.Lines, c.Block
		res, err := c.Verb.Run(&a)
		if text, ok := Refused(err); ok {
			res, err = subscribe.Result{Event: "refused", Reason: text, Said: subscribe.Sentence(text)}, nil
		}
		if err != nil {
			return Done{}, fmt.Errorf("%s: %w", c.Verb.Names[0], err)
		}
		if i == len(calls)-1 && len(a.acts) > 0 {
			calls = append(calls, Written{Verb: Verb{Names: []string{"owner"}, Run: askOwner}, Text: "all of this"})
		}
		if a.State, err = a.State.With(a.At, res.Changes...); err != nil {
			return Done{}, fmt.Errorf("%s: %w", c.Verb.Names[0], err)
		}
		out.Changes, out.Notices = append(out.Changes, res.Changes...), append(out.Notices, res.Notices...)
		out.Event = eventOf(out.Event, res.Event)
		why = append(why, c.Verb.Names[0]+": "+res.Reason)
		out.Asked = out.Asked || res.Event != "refused"
		if res.Said != "" {
			said = append(said, quote(c.Text)+res.Said)
		}
		worth = worth || res.Said != "" && !writes(res.Notices, a.Sender)
	}
	for _, b := range bad {
		said = append(said, quote(b)+"This is no command.")
		why = append(why, "not understood: "+b)
		worth = worth || len(calls) == 0
	}
	if out.Reason = strings.Join(why, "; "); out.Event == "" {
		out.Event, out.Reason, worth = "refused", strings.TrimPrefix("no command; "+out.Reason, "; "), true
	}
	if len(calls) == 0 {
		said = append(said, "There is no command in your mail.")
	}
	if worth {
		out.Text = strings.Join(said, "\n\n") + fmt.Sprintf("\n\nTo learn what can be asked for, write \"help\" to %s.\nThe people in charge: %s\n",
			a.State.ID().Address(lists.SubRequest), a.State.ID().Address(lists.SubOwner))
	}
	return out, nil
}

// eventOf keeps the event that tells most: the first that changed something.
func eventOf(old, now string) string {
	if old == "" || old == "answered" || old == "refused" && now != "answered" {
		return now
	}
	return old
}

// writes reports whether one of the notices goes to an address.
func writes(ns []subscribe.Notice, a mailaddr.Address) bool {
	for _, n := range ns {
		if !n.To.Null() && n.To.Key() == a.Key() {
			return true
		}
	}
	return false
}

func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n" }

// answered is a result that changes nothing.
func answered(reason string, lines ...string) (subscribe.Result, error) {
	return subscribe.Result{Event: "answered", Reason: reason, Said: strings.Join(lines, "\n")}, nil
}
