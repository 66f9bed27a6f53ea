package stage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/queue"
)

// web does what somebody asked for on a page: the page has checked the token that was
// shown to it. What cannot be done any more, or is done already, changes nothing.
func (s *command) web(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	d := s.desk(w, nil)
	from := strings.TrimPrefix(w.Entry.Source, "web ")
	d.Trusted = true
	var res subscribe.Result
	var err error
	switch verb, arg, _ := strings.Cut(w.Entry.Meta.Web, " "); verb {
	case "leave":
		d.By = "one-click unsubscription, " + from
		res, err = unsubscribed(d, arg)
	case "confirm":
		d.By = "a web page, " + from
		res, err = confirmed(d, arg)
	default:
		return nobody(fmt.Sprintf("a page asks for %.40q, which is not known here", verb)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	res.Reason += ": " + d.By
	o, err := s.c.Carry(ctx, d, res)
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", w.Entry.ID, err)
	}
	return o, nil
}

// unsubscribed is the end of a membership, by the member's number.
func unsubscribed(d subscribe.Desk, number string) (subscribe.Result, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return subscribe.Result{Event: "refused", Reason: "no member's number"}, nil
	}
	m, ok := d.State.List().Roster.ByID(lists.MemberID(n))
	if !ok || m.Role != lists.RoleMember {
		return subscribe.Result{Event: "unchanged", Reason: "member " + number + " has left already"}, nil
	}
	return d.Request(subscribe.Ask{Kind: store.PendingLeave, Address: m.Address, Verified: true, Confirmed: true, Approved: true})
}

// confirmed is what comes of a token that was brought back.
func confirmed(d subscribe.Desk, token string) (subscribe.Result, error) {
	p, ok := subscribe.Find(d.State, token, d.At)
	if !ok || p.State != store.PendingConfirm || p.Kind == store.PendingOwner {
		return subscribe.Result{Event: "unchanged", Reason: "the request does not wait any more"}, nil
	}
	return d.Confirm(p)
}
