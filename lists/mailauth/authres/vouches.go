package authres

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"qrunner/lists/message"
)

// Vouches reports whether a field that was written under one of the trusted names
// (authserv-ids, in any case) says that the message comes from domain, the domain of its
// From: DMARC passed for it, or a DKIM signature of it, or of a domain above it, is
// valid. Whoever runs the trusted names takes forged fields of these names off at the
// border (RFC 8601 §5); a field that cannot be read vouches for nothing.
func Vouches(m *message.Message, trusted []string, domain string) bool {
	if domain == "" {
		return false
	}
	for _, r := range Of(m, trusted...) {
		if slices.ContainsFunc(r.Results, func(r Result) bool { return passes(r, domain) }) {
			return true
		}
	}
	return false
}

func passes(r Result, domain string) bool {
	if r.Value != Pass {
		return false
	}
	switch r.Method {
	case "dmarc":
		return strings.EqualFold(r.Get("header", "from"), domain)
	case "dkim":
		d := r.Get("header", "d")
		if d == "" { // older writers give the identity only
			_, d, _ = strings.Cut(r.Get("header", "i"), "@")
		}
		return covers(d, domain)
	}
	return false
}

// covers: a signature of example.org speaks for news.example.org too; one of a public
// suffix (org, co.uk) for nobody below it.
func covers(signer, domain string) bool {
	signer, domain = strings.ToLower(signer), strings.ToLower(domain)
	if signer == domain {
		return signer != ""
	}
	suffix, _ := publicsuffix.PublicSuffix(signer)
	return suffix != signer && strings.HasSuffix(domain, "."+signer)
}
