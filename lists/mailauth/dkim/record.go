package dkim

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/txt"
)

// PublicKey is a key that a domain publishes (RFC 6376 §3.6.1).
type PublicKey struct {
	Key crypto.PublicKey // *rsa.PublicKey or ed25519.PublicKey
	// Strict: the domain of i= must be d= itself (flag s).
	Strict bool
}

// Name is where the key of a selector is published.
func Name(domain, selector string) string { return selector + "._domainkey." + domain }

// ParseRecord reads a key record. ErrKey if it is malformed, revoked, for something
// else than mail with SHA-256, or too short.
func ParseRecord(record string) (PublicKey, error) {
	tags, err := canon.ParseTags(record)
	if err != nil {
		return PublicKey{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if v, ok := tags.Get("v"); ok && (v != "DKIM1" || tags[0].Name != "v") {
		return PublicKey{}, fmt.Errorf("%w: version %.20q", ErrKey, v)
	}
	if h := tags.List("h"); h != nil && !slices.Contains(h, "sha256") {
		return PublicKey{}, fmt.Errorf("%w: not for sha256", ErrKey)
	}
	if s := tags.List("s"); s != nil && !slices.Contains(s, "*") && !slices.Contains(s, "email") {
		return PublicKey{}, fmt.Errorf("%w: not for mail", ErrKey)
	}
	raw, ok := tags.Bytes("p")
	if !ok {
		return PublicKey{}, fmt.Errorf("%w: revoked or malformed", ErrKey)
	}
	kind, ok := tags.Get("k")
	if !ok {
		kind = "rsa"
	}
	key, err := parsePublic(kind, raw)
	return PublicKey{Key: key, Strict: slices.Contains(tags.List("t"), "s")}, err
}

func parsePublic(kind string, raw []byte) (crypto.PublicKey, error) {
	switch kind {
	case "ed25519":
		if len(raw) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%w: %d octets for ed25519", ErrKey, len(raw))
		}
		return ed25519.PublicKey(raw), nil
	case "rsa":
		key, err := parseRSA(raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		if key.N.BitLen() < minRSA {
			return nil, fmt.Errorf("%w: %d bits", ErrKey, key.N.BitLen())
		}
		return key, nil
	}
	return nil, fmt.Errorf("%w: kind %.20q", ErrKey, kind)
}

// parseRSA reads either of the forms that are published.
func parseRSA(raw []byte) (*rsa.PublicKey, error) {
	any, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return x509.ParsePKCS1PublicKey(raw)
	}
	key, ok := any.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("a %T", any)
	}
	return key, nil
}

// LookupKeys fetches the usable keys of a selector; usually there is one. ErrKey if
// there is none, txt.ErrTemporary if the DNS does not answer.
func LookupKeys(ctx context.Context, r txt.Resolver, domain, selector string) ([]PublicKey, error) {
	name := Name(domain, selector)
	records, err := txt.Lookup(ctx, r, name)
	if err != nil {
		return nil, err
	}
	var keys []PublicKey
	cause := fmt.Errorf("%w: none published", ErrKey)
	for _, rec := range records {
		k, err := ParseRecord(rec)
		if err != nil {
			cause = err
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("key %s: %w", name, cause)
	}
	return keys, nil
}

// Record is the text to publish for a key.
func Record(pub crypto.PublicKey) (string, error) {
	switch k := pub.(type) {
	case ed25519.PublicKey:
		return "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(k), nil
	case *rsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(k)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrKey, err)
		}
		return "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(der), nil
	}
	return "", fmt.Errorf("%w: a %T", ErrKey, pub)
}

// ZoneLine is a record as a line of a zone file, in strings of at most 255 octets
// (RFC 1035 §3.3.14).
func ZoneLine(domain, selector, record string) string {
	var b strings.Builder
	b.WriteString(Name(domain, selector) + ". IN TXT (")
	for piece := range slices.Chunk([]byte(record), 255) {
		fmt.Fprintf(&b, " \"%s\"", piece)
	}
	return b.String() + " )"
}
