package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
)

// personalise puts each member into To of his copy. The list stays within reach of an
// answer to all: in Cc, unless answers go to it anyway.
func personalise(_ context.Context, p *lists.Post) error {
	m, list := p.Message, p.List.ID.Posting()
	if p.List.Settings.Text("personalize") != "full" || m.Protected("To") || m.Protected("Cc") {
		return nil
	}
	m.Del("To")
	p.Copies.Full = true
	if names(m, "Reply-To", list) || names(m, "Cc", list) {
		return nil
	}
	cc := string(list)
	if old := strings.TrimRight(strings.Join(m.All("Cc"), ", "), ", "); old != "" {
		cc = old + ", " + cc
	}
	m.Set("Cc", cc)
	return nil
}

// oneClick gives each member's copy an unsubscribe URL of its own, in the place of the
// address that rfc-2369 has put in. The archive, and the posts in digests, never see it. Where moderators
// decide who leaves there is no such URL: it would have to keep its word at once.
func oneClick(_ context.Context, p *lists.Post) error {
	m := p.Message
	set := p.List.Settings
	if m.Protected("List-Unsubscribe") || m.Protected("List-Unsubscribe-Post") {
		return nil
	}
	if p.Web == "" || !set.Bool("one_click_unsubscribe") || strings.HasSuffix(set.Text("unsubscription_policy"), "moderate") || !m.Has("List-Unsubscribe") {
		return nil
	}
	m.Del("List-Unsubscribe")
	p.Copies.OneClick = true
	return nil
}
