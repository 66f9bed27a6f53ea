// Package chains walks the rules and says what shall become of a post.
package chains

import (
	"cmp"
	"context"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/rules"
)

// Judge asks the rules about a post, in the order of the table for its address, until
// one decides. It writes p.Hits and nothing else. An error means that a rule could
// not tell: nothing is decided, and the post may be judged again later.
func Judge(ctx context.Context, p *lists.Post) (lists.Verdict, error) {
	chain := rules.Posting
	if p.Target.Sub == lists.SubOwner {
		chain = rules.Owner
	}
	return walk(ctx, chain, p)
}

// walk is a chain's way: hits are noted; a deferred one leaves the decision to the
// rules behind it.
func walk(ctx context.Context, chain []rules.Rule, p *lists.Post) (lists.Verdict, error) {
	var v lists.Verdict
	p.Hits = nil
	for _, r := range chain {
		if err := context.Cause(ctx); err != nil {
			return lists.Verdict{}, fmt.Errorf("judge post: %w", err)
		}
		h, err := r.Check(ctx, p)
		if err != nil {
			return lists.Verdict{}, fmt.Errorf("judge post: rule %s: %w", r.Name, err)
		}
		if h == nil {
			v.Misses = append(v.Misses, r.Name)
			continue
		}
		h.Action = cmp.Or(h.Action, r.Action)
		if h.Rule == "" {
			h.Rule = r.Name
			p.Hits = append(p.Hits, *h)
		}
		if h.Action != lists.ActionDefer {
			v.Action, v.Rule, v.Reason, v.Hits = h.Action, h.Rule, h.Reason, p.Hits
			return v, nil
		}
	}
	return lists.Verdict{}, fmt.Errorf("judge post: no rule of %d decided", len(chain))
}
