package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// namesAge is how old what a positive answer rests on may be. Mail to a list that
// was deleted meanwhile is shunted, not lost.
const namesAge = 2 * time.Second

// Resolve says what a recipient address means: a list's address or one of its
// sub-addresses; or, for postmaster and abuse at the domain of a list, the owner of
// the site. lists.ErrNoList only when certain: the site marker is there, and a
// fresh listing lacks the list. Any doubt is another error, and temporary.
func (s *Store) Resolve(ctx context.Context, a mailaddr.Address) (lists.Target, error) {
	t, err := s.resolve(ctx, a)
	if err != nil {
		return t, fmt.Errorf("resolve %s: %w", a, err)
	}
	return t, nil
}

func (s *Store) resolve(ctx context.Context, a mailaddr.Address) (lists.Target, error) {
	all := lists.Candidates(a)
	if ids, ok := s.recent(); ok {
		if t, ok, err := s.match(ctx, all, ids); ok || err != nil {
			return t, err
		}
	}
	l, err := s.fresh(ctx)
	if err != nil {
		return lists.Target{}, err
	}
	if t, ok, err := s.match(ctx, all, l.ids); ok || err != nil {
		return t, err
	}
	if isPostmaster(a) && hasDomain(l.ids, a.Domain()) {
		return lists.Target{List: lists.Site, Sub: lists.SubOwner}, nil
	}
	if l.site != nil {
		return lists.Target{}, l.site
	}
	return lists.Target{}, lists.ErrNoList
}

// match gives the first candidate that is a list, of those whose folder is listed.
func (s *Store) match(ctx context.Context, all []lists.Target, ids []lists.ID) (lists.Target, bool, error) {
	for _, t := range all {
		if !has(ids, t.List) {
			continue
		}
		if s.cache.found(t.List, namesAge) {
			return t, true, nil
		}
		if ok, err := s.Exists(ctx, t.List); ok || err != nil {
			return t, ok, err
		}
	}
	return lists.Target{}, false, nil
}

// isPostmaster reports the mailboxes that each domain must have (RFC 5321 §4.5.1,
// RFC 2142).
func isPostmaster(a mailaddr.Address) bool {
	local := strings.ToLower(a.Local())
	return local == "postmaster" || local == "abuse"
}
