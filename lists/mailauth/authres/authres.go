// Package authres reads what our own mail systems found out about a message's senders:
// the Authentication-Results fields of RFC 8601.
package authres

import (
	"slices"
	"strings"

	"github.com/emersion/go-msgauth/authres"

	"qrunner/lists/message"
)

// Vouches reports whether a field that was written under one of the trusted names
// (authserv-ids, in any case) says that the message comes from domain, the domain of its
// From: DMARC passed for it, or a DKIM signature of it, or of a domain above it, is
// valid. Whoever runs the trusted names takes forged fields of these names off at the
// border (RFC 8601 §5); a field that cannot be read vouches for nothing.
func Vouches(m *message.Message, trusted []string, domain string) bool {
	if domain == "" || len(trusted) == 0 {
		return false
	}
	for _, v := range m.All("Authentication-Results") {
		id, results, err := authres.Parse(v)
		id, _, _ = strings.Cut(strings.TrimSpace(id), " ") // a version may follow
		known := slices.ContainsFunc(trusted, func(t string) bool { return strings.EqualFold(t, id) })
		if err == nil && known && slices.ContainsFunc(results, func(r authres.Result) bool { return passes(r, domain) }) {
			return true
		}
	}
	return false
}

func passes(r authres.Result, domain string) bool {
	switch r := r.(type) {
	case *authres.DMARCResult:
		return r.Value == authres.ResultPass && strings.EqualFold(r.From, domain)
	case *authres.DKIMResult:
		return r.Value == authres.ResultPass && covers(r.Domain, domain)
	}
	return false
}

// covers: a signature of example.org speaks for news.example.org, one of org for nobody.
func covers(signer, domain string) bool {
	signer = strings.ToLower(signer)
	return strings.EqualFold(signer, domain) || strings.Contains(signer, ".") && strings.HasSuffix(strings.ToLower(domain), "."+signer)
}
