package dmarc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"qrunner/lists"
	"qrunner/lists/mailauth/txt"
)

// maxLabels is how many labels of a long name the walk looks at above the name itself:
// eight questions at most (RFC 9989 §4.10).
const maxLabels = 7

// Finder finds policies. It is a lists.DMARC; any goroutine may ask.
type Finder struct {
	dns    txt.Resolver
	exists func(ctx context.Context, domain string) (bool, error)
}

// New makes a Finder that asks dns (put a txt.Cache before the real one). exists says
// whether a domain is there at all, for domains that publish another policy for names
// that are not; nil: all are.
func New(dns txt.Resolver, exists func(ctx context.Context, domain string) (bool, error)) *Finder {
	return &Finder{dns: dns, exists: exists}
}

// Policy is the policy in force for mail with this domain (lower case, A-labels) in
// From: that of its own record, else of its organisation's, else of the public suffix
// above (§4.10.1). A record that is published for a test (t=y) counts as any other: the
// domain wants to see what lists do. The error is a txt.ErrTemporary: the DNS did not
// answer.
func (f *Finder) Policy(ctx context.Context, domain string) (lists.DMARCPolicy, error) {
	policy, _, err := f.find(ctx, domain)
	return policy, err
}

// find is Policy, and where its record stands; "" if there is none.
func (f *Finder) find(ctx context.Context, domain string) (lists.DMARCPolicy, string, error) {
	domain = strings.TrimSuffix(domain, ".")
	if domain == "" || strings.HasPrefix(domain, "[") {
		return lists.DMARCNone, "", nil
	}
	own, ok, err := f.ask(ctx, domain)
	if err != nil {
		return lists.DMARCNone, "", err
	}
	if ok {
		return own.p, domain, nil
	}
	above, err := f.walk(ctx, domain)
	if err != nil || len(above) == 0 {
		return lists.DMARCNone, "", err
	}
	at := choose(domain, above)
	policy := at.sp
	if at.np != at.sp && f.exists != nil {
		there, err := f.exists(ctx, domain)
		if err != nil {
			return lists.DMARCNone, "", fmt.Errorf("find DMARC policy of %s: %w", domain, err)
		}
		if !there {
			policy = at.np
		}
	}
	return policy, at.domain, nil
}

func (f *Finder) ask(ctx context.Context, domain string) (record, bool, error) {
	records, err := txt.Lookup(ctx, f.dns, "_dmarc."+domain)
	if err != nil {
		return record{}, false, fmt.Errorf("find DMARC policy of %s: %w", domain, err)
	}
	r, ok := pick(records)
	return r, ok, nil
}

// placed is a record and where it stands.
type placed struct {
	record
	domain string
}

// walk collects the records above a domain, the longest name first, up to one that
// says where the organisation ends (§4.10). A public suffix that does not answer is
// passed over once a record of the organisation is known: it could say nothing new.
func (f *Finder) walk(ctx context.Context, domain string) ([]placed, error) {
	var out []placed
	for _, target := range targets(domain) {
		r, ok, err := f.ask(ctx, target)
		if err != nil {
			if len(out) > 0 && isSuffix(target) && out[len(out)-1].domain == organisation(domain) {
				return out, nil
			}
			return nil, err
		}
		if !ok {
			continue
		}
		out = append(out, placed{r, target})
		if r.psd != "u" {
			break
		}
	}
	return out, nil
}

// targets are the names above a domain that the walk looks at.
func targets(domain string) []string {
	labels := strings.Split(domain, ".")
	first := max(1, len(labels)-maxLabels)
	var out []string
	for i := first; i < len(labels); i++ {
		out = append(out, strings.Join(labels[i:], "."))
	}
	return out
}

// choose picks the record that counts for a domain among those above it (§4.10.2):
// the organisation's, which a psd tag, or else the public suffix list, or else the
// shortest name tells; a suffix's own if the organisation has none.
func choose(domain string, above []placed) placed {
	last := above[len(above)-1]
	org := last.domain
	switch {
	case last.psd == "y":
		org = below(domain, last.domain)
	case last.psd == "u" && isSuffix(last.domain):
		org = organisation(domain)
	}
	if i := slices.IndexFunc(above, func(p placed) bool { return p.domain == org }); i >= 0 {
		return above[i]
	}
	return last
}

// below is the name one label longer than suffix on the way to domain.
func below(domain, suffix string) string {
	head := strings.TrimSuffix(domain, "."+suffix)
	return head[strings.LastIndexByte(head, '.')+1:] + "." + suffix
}

// organisation is what the public suffix list takes for the top of a domain's
// organisation; "" for a suffix.
func organisation(domain string) string {
	org, err := publicsuffix.EffectiveTLDPlusOne(domain)
	if err != nil {
		return ""
	}
	return org
}

func isSuffix(domain string) bool {
	s, _ := publicsuffix.PublicSuffix(domain)
	return s == domain
}
