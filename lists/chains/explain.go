package chains

import (
	"slices"

	"qrunner/lists"
)

// Step is one rule's part in a verdict.
type Step struct {
	Rule string `json:"rule"`
	// Asked is false for a rule behind the one that decided.
	Asked bool `json:"asked"`
	Hit   bool `json:"hit"`
	// Action is what the hit meant; defer where another rule decided.
	Action lists.Action `json:"action,omitempty"`
	Reason string       `json:"reason,omitempty"`
	// Doc says what the rule looks for.
	Doc string `json:"doc"`
}

// Explain lays a verdict out along the chain of its target, rule by rule.
func Explain(t lists.Target, v lists.Verdict) []Step {
	var out []Step
	for _, r := range For(t).Rules {
		s := Step{Rule: r.Name, Asked: slices.Contains(v.Misses, r.Name), Doc: r.Doc}
		if i := slices.IndexFunc(v.Hits, func(h lists.Hit) bool { return h.Rule == r.Name }); i >= 0 {
			s.Asked, s.Hit, s.Action, s.Reason = true, true, v.Hits[i].Action, v.Hits[i].Reason
		}
		switch {
		case r.Name == "truth" && v.Rule == "truth", r.Name == "any" && summedUp(v):
			s.Asked, s.Hit, s.Action, s.Reason = true, true, v.Action, v.Reason
		}
		out = append(out, s)
	}
	return out
}

// summedUp reports whether the rule any decided: over hits that left it to others.
func summedUp(v lists.Verdict) bool {
	return len(v.Hits) > 0 && v.Hits[len(v.Hits)-1].Action == lists.ActionDefer && v.Action == lists.ActionHold
}
