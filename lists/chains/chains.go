// Package chains walks the rules and says what shall become of a post.
package chains

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/rules"
)

// Judge asks the rules about a post, in the order of the chain for its address, until
// one decides. It writes p.Hits and nothing else. An error means that a rule could
// not tell: nothing is decided, and the post may be judged again later.
func Judge(ctx context.Context, p *lists.Post) (lists.Verdict, error) {
	return walk(ctx, For(p.Target).Rules, p)
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
		h, err := ask(ctx, r, p)
		if err != nil {
			return lists.Verdict{}, fmt.Errorf("judge post: rule %s: %w", r.Name, err)
		}
		if h == nil {
			v.Misses = append(v.Misses, r.Name)
			continue
		}
		end, known := Find(r.Chain)
		if r.Chain != "" && !known {
			return lists.Verdict{}, fmt.Errorf("judge post: rule %s: no chain %q", r.Name, r.Chain)
		}
		h.Action = cmp.Or(h.Action, end.Action, lists.ActionDefer)
		if h.Rule == "" {
			h.Rule = r.Name
			p.Hits = append(p.Hits, *h)
		}
		if h.Action != lists.ActionDefer {
			v.Action, v.Rule, v.Reason, v.Notice, v.Hits = h.Action, h.Rule, h.Reason, h.Notice, p.Hits
			return v, nil
		}
	}
	return lists.Verdict{}, fmt.Errorf("judge post: no rule of %d decided", len(chain))
}

// ask is one rule's question. Where a setting cannot be read, a person decides: the post
// is held, and the reason names the setting.
func ask(ctx context.Context, r rules.Rule, p *lists.Post) (*lists.Hit, error) {
	h, err := r.Check(ctx, p)
	if bad, ok := errors.AsType[*lists.SettingError](err); ok {
		return &lists.Hit{Action: lists.ActionHold, Reason: "it cannot be judged: " + bad.Error()}, nil
	}
	return h, err
}
