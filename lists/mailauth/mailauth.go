// Package mailauth is what a list does about who sent a post, and about who is seen to
// send its copies: it checks signatures before it changes a post, and signs afterwards.
// Its sub-packages have the protocols.
package mailauth

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailauth/arc"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/mailauth/txt"
	"qrunner/locking/clock"
)

// Authority is the lists.Authority of a site. Any goroutine may use it.
type Authority struct {
	dns  txt.Resolver
	keys *keys.Store
	now  clock.Clock
}

// New makes an Authority that asks dns for keys (put a txt.Cache before the real one)
// and signs with the keys of a store.
func New(dns txt.Resolver, k *keys.Store, now clock.Clock) *Authority {
	return &Authority{dns: dns, keys: k, now: now}
}

// serverID is the list's own name in Authentication-Results.
func serverID(l *lists.List) string {
	return cmp.Or(l.Settings.Text("authserv_id"), l.ID.Domain())
}

// Check implements lists.Authority, for lists that want it or seal. What a trusted mail
// system wrote down about SPF, DKIM and DMARC is taken over, for it saw the sender's
// address; else DKIM is checked here. ARC always is: a sealer answers for the chain.
func (a *Authority) Check(ctx context.Context, p *lists.Post) error {
	set := p.List.Settings
	if !set.Bool("validate_authenticity") && !set.Bool("arc_seal") {
		return nil
	}
	own := authres.Results{ID: serverID(p.List)}
	signed := false
	for _, r := range authres.Of(p.Message, strings.Fields(set.Text("trusted_authserv_ids"))...) {
		for _, x := range r.Results {
			switch x.Method {
			case "dkim":
				signed = true
			case "spf", "dmarc":
			default:
				continue
			}
			own.Results = append(own.Results, x)
		}
	}
	if !signed {
		for _, v := range dkim.Verify(ctx, p.Message, a.dns, a.now()) {
			own.Results = append(own.Results, dkimResult(v))
		}
	}
	verdict := arc.Verify(ctx, p.Message, a.dns)
	own.Results = append(own.Results, authres.Result{Method: "arc", Value: verdict.Status, Reason: verdict.Reason()})
	authres.Remove(p.Message, own.ID)
	p.Checked = authres.Format(own)
	p.Message.Prepend(authres.Field, p.Checked)
	return nil
}

// dkimResult words a verification as RFC 8601 §2.7.1 does.
func dkimResult(v dkim.Verification) authres.Result {
	r := authres.Result{Method: "dkim", Value: authres.Pass}
	switch {
	case v.Err == nil && v.Partial:
		r.Value, r.Reason = authres.Policy, "l= leaves a part unsigned"
	case v.Err == nil:
	case dkim.Temporary(v.Err):
		r.Value, r.Reason = authres.TempError, txt.ErrTemporary.Error()
	case v.Domain == "", errors.Is(v.Err, dkim.ErrKey):
		r.Value, r.Reason = authres.PermError, v.Err.Error()
	default:
		r.Value, r.Reason = authres.Fail, v.Err.Error()
	}
	for _, p := range []authres.Property{
		{Type: "header", Name: "d", Value: v.Domain}, {Type: "header", Name: "i", Value: v.Identity},
		{Type: "header", Name: "s", Value: v.Selector}, {Type: "header", Name: "b", Value: v.Signature},
	} {
		if p.Value != "" {
			r.Props = append(r.Props, p)
		}
	}
	return r
}
