package rules

import (
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// matches finds the first pattern of a setting that fits one of the addresses.
func matches(ctx context.Context, p *lists.Post, setting string, as ...mailaddr.Address) (mailaddr.Address, bool, error) {
	ps, err := p.List.Settings.Patterns(setting)
	if err != nil {
		return "", false, err
	}
	for _, pattern := range ps {
		fits := func(a mailaddr.Address) bool { return pattern.Match(a) }
		if pattern.List != "" {
			if fits, err = membersOf(ctx, p, pattern.List); err != nil {
				return "", false, err
			}
		}
		for _, a := range as {
			if !a.Null() && fits(a) {
				return a, true, nil
			}
		}
	}
	return "", false, nil
}

// membersOf tells members of another list. A list that does not exist has none.
func membersOf(ctx context.Context, p *lists.Post, id lists.ID) (func(mailaddr.Address) bool, error) {
	nobody := func(mailaddr.Address) bool { return false }
	if p.Others == nil {
		return nobody, nil
	}
	roster, err := p.Others(ctx, id)
	switch {
	case errors.Is(err, lists.ErrNoList):
		return nobody, nil
	case err != nil:
		return nil, fmt.Errorf("members of %s: %w: %w", id, lists.ErrTrouble, err)
	}
	return func(a mailaddr.Address) bool {
		_, ok := roster.Find(lists.RoleMember, a)
		return ok
	}, nil
}
