package main

import (
	"io"
	"time"

	"qrunner/locking"
)

// lockView is a lock as JSON shows it: what is not known is left out, and times are UTC.
type lockView struct {
	Key     locking.Key   `json:"key"`
	State   locking.State `json:"state"`
	Mode    string        `json:"mode,omitempty"`
	Holder  *holderView   `json:"holder,omitempty"`
	Sharing []holderView  `json:"sharing,omitempty"`
	Torn    bool          `json:"unreadable,omitempty"`
	Now     time.Time     `json:"now,omitzero"`
	Age     float64       `json:"age_seconds,omitempty"`
	Waiters []holderView  `json:"waiters,omitempty"`
	Tickets int           `json:"tickets,omitempty"`
	Reason  string        `json:"reason,omitempty"`
	Why     string        `json:"why,omitempty"`
	Would   string        `json:"break_would,omitempty"`
}

// holderView is who holds or awaits it.
type holderView struct {
	Host      string    `json:"host,omitempty"`
	PID       int       `json:"pid,omitempty"`
	Note      string    `json:"note,omitempty"`
	Since     time.Time `json:"since,omitzero"`
	Refreshed time.Time `json:"refreshed,omitzero"`
	Left      float64   `json:"left_seconds,omitempty"`
}

func viewLock(r locking.Report) lockView {
	v := lockView{
		Key: r.Key, State: r.State, Sharing: viewHolders(r.Sharing), Torn: r.Torn, Now: r.Now.UTC(), Age: r.Age.Seconds(),
		Waiters: viewHolders(r.Waiters), Tickets: r.Tickets, Reason: r.Reason, Why: r.Why, Would: r.Would,
	}
	if r.State == locking.StateHeld || r.State == locking.StateStale {
		v.Mode = r.Mode.String()
		v.Holder = &viewHolders([]locking.Holder{r.Holder})[0]
	}
	return v
}

func viewHolders(list []locking.Holder) (out []holderView) {
	for _, h := range list {
		out = append(out, holderView{h.Host, h.PID, h.Note, h.Since.UTC(), h.Seen.UTC(), h.Until.Seconds()})
	}
	return out
}

// when writes a time for people; "-" for one that is not known.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}

// printLock prints a report, in words or as JSON.
func (a *app) printLock(r locking.Report, text func(w io.Writer)) error {
	return a.print(viewLock(r), text)
}
