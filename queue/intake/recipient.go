package intake

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
)

// recipients says for whom a piped message is.
func (in *Intake) recipients(ctx context.Context, a DeliverArgs) ([]lists.Target, error) {
	if len(a.Words) == 0 {
		return in.fromEnv(ctx, a)
	}
	if sub, ok := words[a.Words[0]]; ok {
		if len(a.Words) != 2 {
			return nil, fmt.Errorf("%w: %q wants one list", errUsage, a.Words[0])
		}
		t, err := in.alias(ctx, sub, a.Words[1])
		if err != nil {
			return nil, err
		}
		t.Extra = extra(a, t)
		return []lists.Target{t}, nil
	}
	return in.resolveAll(ctx, a.Words)
}

// resolveAll wants one outcome for all addresses, since there is one exit status.
func (in *Intake) resolveAll(ctx context.Context, addresses []string) ([]lists.Target, error) {
	var targets []lists.Target
	unknown := ""
	for _, s := range addresses {
		t, err := in.resolveText(ctx, s)
		switch {
		case errors.Is(err, errNoList):
			unknown = s
		case err != nil:
			return nil, err
		default:
			targets = append(targets, t)
		}
	}
	switch {
	case unknown == "":
		return targets, nil
	case len(targets) == 0:
		return nil, errNoList
	}
	return nil, fmt.Errorf("%w: some lists exist and %q does not: have the MTA call once per recipient", errUsage, unknown)
}

func (in *Intake) resolveText(ctx context.Context, s string) (lists.Target, error) {
	a, err := mailbox(s)
	if err != nil || a.Null() {
		return lists.Target{}, fmt.Errorf("%w: recipient %q is no address", errUsage, s)
	}
	return in.resolve(ctx, a)
}

// fromEnv takes the recipient as Postfix's local(8) and others export it. The
// original one comes first: the other may have gone through an alias.
func (in *Intake) fromEnv(ctx context.Context, a DeliverArgs) ([]lists.Target, error) {
	err := fmt.Errorf("%w: no recipient", errUsage)
	for _, s := range a.env("ORIGINAL_RECIPIENT", "RECIPIENT") {
		var t lists.Target
		if t, err = in.resolveText(ctx, s); err == nil {
			return []lists.Target{t}, nil
		}
		if !errors.Is(err, errNoList) {
			return nil, err
		}
	}
	return nil, err
}

// env gives the variables that are set and not empty, in order.
func (a DeliverArgs) env(names ...string) []string {
	var out []string
	for _, n := range names {
		if a.Env == nil {
			break
		}
		if s, ok := a.Env(n); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}
