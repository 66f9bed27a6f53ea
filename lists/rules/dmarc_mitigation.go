package rules

import (
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// dmarcMitigation finds posts whose author's domain asks receivers to refuse what the
// list would make of them. It has a hit only where the list refuses them first; a list
// that rewrites From instead leaves that to the handlers. Every author's domain is
// asked about: receivers differ in which they look at.
func dmarcMitigation(ctx context.Context, p *lists.Post) (*lists.Hit, error) {
	action := lists.Action(p.List.Settings.Text("dmarc_mitigate_action"))
	if action != lists.ActionReject && action != lists.ActionDiscard || p.List.Settings.Bool("anonymous_list") {
		return nil, nil
	}
	from := p.Message.Addresses("From")
	notice := p.List.Settings.Text("dmarc_moderation_notice")
	who, ok, err := matches(ctx, p, "dmarc_addresses", from...)
	if err != nil {
		return nil, err
	}
	why, err := unsigned(ctx, p, from)
	if err != nil || why == "" {
		return nil, err
	}
	if ok {
		return hitWith(action, notice, "%s is in dmarc_addresses", who)
	}
	for _, a := range from {
		policy, err := dmarcPolicy(ctx, p, a)
		if err != nil {
			return nil, err
		}
		if policy == lists.DMARCQuarantine || policy == lists.DMARCReject {
			return hitWith(action, notice, "the domain %s publishes a DMARC policy of %s, and %s", a.Domain(), policy, why)
		}
	}
	return nil, nil
}

// unsigned says why receivers would refuse what this list makes of a post; "" if they would
// not, because nothing of it is changed and a signature of each author's domain holds.
func unsigned(ctx context.Context, p *lists.Post, from []mailaddr.Address) (string, error) {
	if !p.List.Settings.Untouched() {
		return "this list changes messages", nil
	}
	for _, a := range from {
		ok := false
		if p.Authority != nil {
			var err error
			if ok, err = p.Authority.Aligned(ctx, p, a.Domain()); err != nil {
				return "", err
			}
		}
		if !ok {
			return "no valid signature of the author's is on the post", nil
		}
	}
	return "", nil
}

// dmarcPolicy: a post is never refused because our DNS was down; it waits.
func dmarcPolicy(ctx context.Context, p *lists.Post, a mailaddr.Address) (lists.DMARCPolicy, error) {
	if p.DMARC == nil {
		return lists.DMARCNone, nil
	}
	policy, err := p.DMARC.Policy(ctx, a.Domain())
	if err != nil {
		return "", fmt.Errorf("DMARC policy of %s: %w: %w", a.Domain(), lists.ErrTrouble, err)
	}
	return policy, nil
}
