package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
)

// heldPick says which held posts are meant.
type heldPick struct {
	List  string   `arg:"" help:"Posting address."`
	ID    []string `arg:"" optional:"" help:"Held posts."`
	All   bool     `help:"All that wait."`
	From  string   `help:"All whose author has this address." placeholder:"ADDRESS"`
	Older string   `help:"All that have waited for longer, such as 12h or 30d; with --from, both must be so." placeholder:"SPAN"`

	older time.Duration
}

func (h *heldPick) check() error {
	some := h.All || h.From != "" || h.Older != ""
	switch {
	case len(h.ID) == 0 && !some:
		return &usageError{errors.New("name held posts, or say --all, --from or --older")}
	case len(h.ID) > 0 && some:
		return &usageError{errors.New("either name held posts, or say which by --all, --from or --older")}
	}
	if h.Older == "" {
		return nil
	}
	var err error
	if h.older, err = lists.ParseDuration(h.Older); err != nil {
		return &usageError{fmt.Errorf("--older: %w", err)}
	}
	return nil
}

func (h heldPick) pick(st *store.State, now time.Time) ([]store.HeldPost, error) {
	if len(h.ID) == 0 {
		return slices.DeleteFunc(st.Held(), func(p store.HeldPost) bool {
			return h.From != "" && !strings.EqualFold(p.From, h.From) || h.Older != "" && now.Sub(p.Since) <= h.older
		}), nil
	}
	var out []store.HeldPost
	for _, id := range h.ID {
		p, ok := st.HeldPost(id)
		if !ok {
			return nil, fmt.Errorf("%s: %w", id, store.ErrNoHeld)
		}
		out = append(out, p)
	}
	return out, nil
}
