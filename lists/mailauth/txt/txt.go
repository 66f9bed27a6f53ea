// Package txt looks up TXT records of the DNS: keys and policies of mail domains.
package txt

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Resolver is what is needed of the DNS. *net.Resolver is one. Strings of one record
// come joined. A name without TXT records is a *net.DNSError with IsNotFound.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// ErrTemporary: the DNS did not answer, or not with a definite answer; try later.
var ErrTemporary = errors.New("no answer from the DNS")

// Lookup asks r. A name that does not exist or has no TXT record yields none and no
// error; any other failure is an ErrTemporary: nobody may be judged by it.
func Lookup(ctx context.Context, r Resolver, name string) ([]string, error) {
	records, err := r.LookupTXT(ctx, name)
	switch {
	case err == nil:
		return records, nil
	case absent(err):
		return nil, nil
	}
	return nil, fmt.Errorf("look up TXT %s: %w: %w", name, ErrTemporary, err)
}

func absent(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}

// Map is a Resolver out of a map, for tests and for runs without network.
type Map map[string][]string

// LookupTXT answers from the map; a name without an entry does not exist.
func (m Map) LookupTXT(_ context.Context, name string) ([]string, error) {
	if v, ok := m[name]; ok {
		return v, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
