package subscribe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/templates"
)

// kind is how requests of a kind go.
type kind struct {
	// sane completes a request, or refuses it.
	sane func(Desk, Ask) (Ask, error)
	// policy is the setting that says who has to agree; "": the address's owner only.
	policy string
	// confirm is the mail to the address concerned, moderate that to the moderators.
	confirm, moderate templates.Name
	// done carries it out.
	done func(Desk, Ask) (Result, error)
}

// kindOf is the row of a kind. A new kind is a row and a file.
func kindOf(k store.PendingKind) (kind, error) {
	switch k {
	case store.PendingJoin:
		return kind{saneJoin, "subscription_policy", templates.UserSubscribe, templates.AdminActionSubscribe, join}, nil
	case store.PendingInvite:
		return kind{saneJoin, "", templates.UserInvite, "", join}, nil
	case store.PendingLeave:
		return kind{saneLeave, "unsubscription_policy", templates.UserUnsubscribe, templates.AdminActionUnsubscribe, leave}, nil
	case store.PendingSet:
		return kind{saneSet, "", templates.UserRequest, "", set}, nil
	case store.PendingOwner:
		return kind{saneOwner, "", templates.UserRequest, "", manage}, nil
	case store.PendingChange:
		return kind{saneChange, "", templates.UserRequest, "", change}, nil
	}
	return kind{}, fmt.Errorf("request of kind %q: not known here", k)
}

// Request takes a request. What still needs a confirmation, or a moderator, becomes a
// pending one; else it is carried out. A request that cannot be met is no error: Event is
// "refused", and nothing changes.
func (d Desk) Request(a Ask) (Result, error) {
	k, err := kindOf(a.Kind)
	if err != nil {
		return Result{}, err
	}
	if a, err = k.sane(d, a); err != nil {
		res, err := refused(err)
		if !d.tells(a.Address) { // who is a member, or banned, is no one else's business
			res.Said = asked(a.Address)
		}
		return res, err
	}
	return d.step(k, a)
}

// step is what comes next for a request that is sane.
func (d Desk) step(k kind, a Ask) (Result, error) {
	policy := "confirm"
	if k.policy != "" {
		policy = d.list().Settings.Text(k.policy)
	}
	switch {
	case !a.Confirmed && (!a.Verified || strings.HasPrefix(policy, "confirm")):
		return d.Ask(k.confirm, a)
	case !a.Approved && strings.HasSuffix(policy, "moderate"):
		return d.put(k.moderate, a)
	}
	return k.done(d, a)
}

// Ask opens a request and sends its token to the address concerned, to be confirmed. A
// request that waits already keeps its token: the mail is sent again.
func (d Desk) Ask(mail templates.Name, a Ask) (Result, error) {
	counts, ok := d.mayAsk(a)
	if !ok {
		return Result{Event: "silenced", Reason: fmt.Sprintf("%s: %s is not asked again today", a.Kind, a.Address)}, nil
	}
	var out Result
	p, again := d.State.PendingFor(a.Kind, a.Address, d.At)
	again = again && p.State == store.PendingConfirm && a.Kind != store.PendingOwner
	if again {
		out.Changes = append(out.Changes, store.ClosePending{ID: p.ID})
	} else {
		var err error
		if p, err = d.named(store.Pending{}); err != nil {
			return Result{}, err
		}
	}
	p = d.dated(a.pending(p), "pending_request_life")
	p.State = store.PendingConfirm
	out.Changes = append(append(out.Changes, store.OpenPending{Pending: p}), counts...)
	out.Event, out.Said = "pending", asked(a.Address)
	out.Reason = fmt.Sprintf("%s: %s is asked to confirm, by request of %s", Describe(p), a.Address, d.By)
	out.Notices = []Notice{{
		To: p.Address, Template: mail, Lang: Language(d.list(), p.Address), Token: Token(p),
		Vars: templates.Vars{"user_email": string(p.Address), "sender_email": string(d.Sender), "request": Describe(p)},
	}}
	return out, nil
}

// put lays a request before the moderators.
func (d Desk) put(mail templates.Name, a Ask) (Result, error) {
	p, err := d.named(store.Pending{})
	if err != nil {
		return Result{}, err
	}
	p = d.dated(a.pending(p), "moderator_request_life")
	p.State = store.PendingModerate
	return Result{
		Event: "moderate", Reason: fmt.Sprintf("%s: %s waits for a moderator", Describe(p), p.Address), Said: waits(p),
		Changes: []store.Change{store.OpenPending{Pending: p}},
		Notices: []Notice{{
			Template: mail, Token: Token(p), Decide: true,
			Vars: templates.Vars{"member": string(p.Address), "user_name": p.Name},
		}},
	}, nil
}

// dated says how long a request waits; life is a setting.
func (d Desk) dated(p store.Pending, life string) store.Pending {
	p.By, p.Trace, p.Since = d.By, d.Trace, d.At
	p.Until = d.At.Add(d.list().Settings.Duration(life))
	return p
}

func asked(a mailaddr.Address) string {
	return fmt.Sprintf("%s gets a mail that asks to confirm this, if it can be done. Nothing happens before it is answered.", a)
}

func waits(p store.Pending) string {
	return fmt.Sprintf("The request of %s (%s) waits for the list's moderators.", p.Address, Describe(p))
}

// Sentence makes one of a reason. A name at its head, of a person or of a setting, stays as
// it is written.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsAny(first, "@_") {
		r, n := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(r)) + s[n:]
	}
	return strings.TrimSuffix(s, ".") + "."
}
