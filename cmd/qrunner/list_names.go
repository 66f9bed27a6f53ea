package main

import (
	"context"
	"fmt"
	"strings"

	"qrunner/lists"
)

// checkServiceNames refuses a list whose posting address is a service address of
// another one, and the other way round: mail to it would go to the wrong place.
func (h *house) checkServiceNames(ctx context.Context, id lists.ID) error {
	all, err := h.store.Lists(ctx)
	if err != nil {
		return fmt.Errorf("look at the other lists: %w", err)
	}
	for _, other := range all {
		if other.Domain() != id.Domain() || other == id {
			continue
		}
		if s, clash := serviceOf(id.Local(), other.Local()); clash {
			return fmt.Errorf("%s is the -%s address of the list %s: choose another name", id, s, other)
		}
		if s, clash := serviceOf(other.Local(), id.Local()); clash {
			return fmt.Errorf("the list %s has the name that would be the -%s address of %s: choose another name", other, s, id)
		}
	}
	return nil
}

// serviceOf says whether name is base with one of the service suffixes.
func serviceOf(name, base string) (lists.SubAddress, bool) {
	rest, ok := strings.CutPrefix(name, base+"-")
	if !ok {
		return "", false
	}
	for _, s := range lists.SubAddresses {
		if rest == string(s) {
			return s, true
		}
	}
	return "", false
}
