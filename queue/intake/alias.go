package intake

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// words are the commands of Mailman 2's aliases ("|mailman post ant").
var words = map[string]lists.SubAddress{
	"post": lists.SubPost, "admin": lists.SubAdmin, "bounces": lists.SubBounces, "confirm": lists.SubConfirm,
	"join": lists.SubJoin, "leave": lists.SubLeave, "owner": lists.SubOwner, "request": lists.SubRequest,
	"subscribe": lists.SubSubscribe, "unsubscribe": lists.SubUnsubscribe,
}

// alias finds the list of an old alias, by its name or its posting address.
func (in *Intake) alias(ctx context.Context, sub lists.SubAddress, list string) (lists.Target, error) {
	a, err := in.listAddress(ctx, list)
	if err != nil {
		return lists.Target{}, err
	}
	t, err := in.resolve(ctx, a)
	if err != nil {
		return lists.Target{}, err
	}
	if t.Sub != lists.SubPost || t.List == lists.Site {
		return lists.Target{}, fmt.Errorf("%w: %q is not a list's posting address", errUsage, list)
	}
	return lists.Target{List: t.List, Sub: sub}, nil
}

// listAddress completes a bare list name, by the configured domain or by the one
// list that has the name.
func (in *Intake) listAddress(ctx context.Context, list string) (mailaddr.Address, error) {
	if !strings.Contains(list, "@") && in.Domain == "" {
		return in.only(ctx, list)
	}
	if !strings.Contains(list, "@") {
		list += "@" + in.Domain
	}
	a, err := mailbox(list)
	if err != nil {
		return "", fmt.Errorf("%w: list %q: %w", errUsage, list, err)
	}
	return a, nil
}

// only finds the one list with that name. That there is none is no proof: without a
// domain there is no address that could be looked for.
func (in *Intake) only(ctx context.Context, name string) (mailaddr.Address, error) {
	ids, err := in.Directory.Lists(ctx)
	if err != nil {
		return "", fmt.Errorf("look for list %q: %w", name, err)
	}
	var found []lists.ID
	for _, id := range ids {
		if id != lists.Site && strings.EqualFold(id.Local(), name) {
			found = append(found, id)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%w: %d lists are named %q: give the full address", errUsage, len(found), name)
	}
	return found[0].Posting(), nil
}

// extra finds what stood behind the "+" in the address that an old alias was called
// for: a token or a VERP address.
func extra(a DeliverArgs, t lists.Target) string {
	for _, s := range a.env("ORIGINAL_RECIPIENT", "RECIPIENT") {
		r, err := mailbox(s)
		if err != nil {
			continue
		}
		for _, c := range lists.Candidates(r) {
			if c.Sub == t.Sub && c.List.Local() == t.List.Local() {
				return c.Extra
			}
		}
	}
	for _, s := range a.env("EXTENSION") {
		t.Extra = s
		if got, err := mailaddr.Parse(string(t.Address())); err == nil && got == t.Address() {
			return s
		}
	}
	return ""
}
