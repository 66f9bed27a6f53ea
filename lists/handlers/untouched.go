package handlers

import (
	"context"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/message"
	"qrunner/lists/rules"
)

// Untouched is the posting pipeline of lists of that style: fields are added, and nothing
// that the author signed is changed.
var Untouched = []Handler{
	{"validate-authenticity", validateAuthenticity, "What is known of who sent it is written down."},
	{"tagger", tagger, "Which of the list's topics it is about."},
	{"member-recipients", memberRecipients, "Everybody who gets each post by itself."},
	{"avoid-duplicates", avoidDuplicates, "Nobody gets a second copy who wants none."},
	{"cleanse", cleanse, "Passwords, and requests that the list must not pass on, go."},
	{"cook-headers", cookHeaders, "The loop mark, Precedence."},
	{"rfc-2369", rfc2369, "List-Id and the other List-* fields."},
	{"to-archive", toArchive, "A copy for the archive."},
	{"to-digest", toDigest, "A copy for the next digest."},
	{"dmarc", dmarc, "What the list does about strict domains, where no signature of the author's holds."},
	{"one-click", oneClick, "Each member's own unsubscribe URL."},
	{"received", received, "Our trace field."},
	{"sign", sign, "The list's signatures, beside the author's."},
}

// Protect is called before anything is added to a post: on an untouched list no field can
// be changed or added that the author's signatures name, whether the post has it or not.
// Fields that bring passwords are the exception: these must go.
func Protect(p *lists.Post) {
	if !untouched(p) {
		return
	}
	var names []string
	for _, f := range p.Message.Fields() {
		if !strings.EqualFold(f.Name, "DKIM-Signature") {
			continue
		}
		_, value, _ := strings.Cut(string(f.Raw), ":")
		if tags, err := canon.ParseTags(value); err == nil {
			names = append(names, tags.List("h")...)
		}
	}
	free := names[:0]
	for _, n := range names {
		if !oneOf(n, rules.ApprovedHeaders) {
			free = append(free, n)
		}
	}
	p.Message.Protect(free)
}

// untouched: a list that hides who wrote a post has to touch it.
func untouched(p *lists.Post) bool {
	return p.Target.Sub == lists.SubPost && p.List.Settings.Untouched() && !anonymous(p)
}

// holds reports whether the post of an untouched list has a valid signature for each of
// its authors' domains, so that DMARC passes for whoever gets it. That it cannot be found
// out counts as no.
func holds(ctx context.Context, p *lists.Post, authors []message.Mailbox) bool {
	if !untouched(p) || p.Authority == nil {
		return false
	}
	for _, a := range authors {
		if ok, err := p.Authority.Aligned(ctx, p, a.Address.Domain()); err != nil || !ok {
			return false
		}
	}
	return true
}
