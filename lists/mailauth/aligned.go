package mailauth

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/publicsuffix"

	"qrunner/lists"
	"qrunner/lists/mailauth/dkim"
)

// Aligned implements lists.Authority. It asks nobody's Authentication-Results: only the
// octets in hand tell whether a signature still holds.
func (a *Authority) Aligned(ctx context.Context, p *lists.Post, domain string) (bool, error) {
	var trouble error
	for _, v := range dkim.Verify(ctx, p.Message, a.dns, a.now()) {
		switch {
		case !aligned(v.Domain, domain):
		case v.Err == nil && !v.Partial:
			return true, nil
		case v.Err != nil && dkim.Temporary(v.Err):
			trouble = v.Err
		}
	}
	if trouble != nil {
		return false, fmt.Errorf("signature of %s: %w: %w", domain, lists.ErrTrouble, trouble)
	}
	return false, nil
}

// aligned compares a signer with an author's domain: both belong to one organisation (the
// relaxed mode of RFC 9989 §4.8, by the public suffix list).
func aligned(signer, domain string) bool {
	signer, domain = strings.ToLower(signer), strings.ToLower(domain)
	if signer == domain {
		return signer != ""
	}
	a, errA := publicsuffix.EffectiveTLDPlusOne(signer)
	b, errB := publicsuffix.EffectiveTLDPlusOne(domain)
	return errA == nil && errB == nil && a == b
}
