package dmarc

import (
	"context"
	"errors"
	"fmt"
	"net"

	"qrunner/lists/mailauth/txt"
)

// Hosts is what tells whether a domain exists; *net.Resolver is one.
type Hosts interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
}

// Exists makes the test for New: a domain exists that has an A, AAAA or MX record
// (RFC 9989 §3.2.13).
func Exists(r Hosts) func(ctx context.Context, domain string) (bool, error) {
	return func(ctx context.Context, domain string) (bool, error) {
		mx, err := r.LookupMX(ctx, domain)
		if len(mx) > 0 {
			return true, nil
		}
		if err != nil && !absent(err) {
			return false, fmt.Errorf("look up MX %s: %w: %w", domain, txt.ErrTemporary, err)
		}
		hosts, err := r.LookupHost(ctx, domain)
		if err != nil && !absent(err) {
			return false, fmt.Errorf("look up host %s: %w: %w", domain, txt.ErrTemporary, err)
		}
		return len(hosts) > 0, nil
	}
}

func absent(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
