package rules

import (
	"context"

	"qrunner/lists"
)

// RateKeys are what accepted posts are counted under: the list's, and the author's.
func RateKeys(p *lists.Post) (list, author string) {
	author = "post/"
	if from := authors(p); len(from) > 0 {
		author += from[0].Key()
	}
	return "posts", author
}

// rateLimit stops storms: what is over the limit waits for a person.
func rateLimit(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if p.Recent == nil {
		return nil, nil
	}
	list, author := RateKeys(p)
	for _, row := range []struct{ setting, key, what string }{
		{"max_posts_per_sender", author, "of this author"},
		{"max_posts_per_list", list, "to the list"},
	} {
		limit := p.List.Settings.Int(row.setting)
		if n := int64(p.Recent(row.key)); limit > 0 && n >= limit {
			return hit("%d posts %s within an hour already; the limit is %d", n, row.what, limit)
		}
	}
	return nil, nil
}
