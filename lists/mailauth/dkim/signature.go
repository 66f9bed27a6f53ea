package dkim

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/txt"
)

// Claim is what a signature of DKIM or ARC says about itself.
type Claim struct {
	Algorithm, Domain, Selector string
	Signature                   []byte
}

// ParseClaim takes a=, b=, d= and s= out of a tag list. Domain and Selector are A-labels,
// whichever form the signature has (RFC 8616 §4).
func ParseClaim(tags canon.Tags) (Claim, error) {
	a, _ := tags.Get("a")
	d, s := ascii(get(tags, "d")), ascii(get(tags, "s"))
	b, ok := tags.Bytes("b")
	switch {
	case a != RSA && a != Ed25519:
		return Claim{}, fmt.Errorf("%w: algorithm %.30q", ErrSignature, a)
	case !okName(d) || !strings.Contains(d, "."):
		return Claim{}, fmt.Errorf("%w: domain %.80q", ErrSignature, d)
	case !okName(s):
		return Claim{}, fmt.Errorf("%w: selector %.80q", ErrSignature, s)
	case !ok:
		return Claim{}, fmt.Errorf("%w: b= is empty or no base64", ErrSignature)
	}
	return Claim{Algorithm: a, Domain: d, Selector: s, Signature: b}, nil
}

// ascii is a name with its U-labels as A-labels; one that cannot be that stays as it is.
func ascii(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			if a, err := idna.Lookup.ToASCII(name); err == nil {
				return a
			}
			break
		}
	}
	return name
}

// okName accepts what may be asked of the DNS, long or odd names excepted.
func okName(s string) bool {
	if s == "" || len(s) > 253 || strings.ContainsAny(s, " \t\r\n@/") {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	return true
}

// Verify checks the signature over sum with the keys that the domain publishes and
// returns the one that fits. ErrSignature, ErrKey or txt.ErrTemporary.
func (c Claim) Verify(ctx context.Context, r txt.Resolver, sum canon.Sum) (PublicKey, error) {
	keys, err := LookupKeys(ctx, r, c.Domain, c.Selector)
	if err != nil {
		return PublicKey{}, err
	}
	for _, k := range keys {
		if c.matches(k.Key, sum) {
			return k, nil
		}
	}
	return keys[0], fmt.Errorf("%w: not made with the key of %s", ErrSignature, Name(c.Domain, c.Selector))
}

func (c Claim) matches(key crypto.PublicKey, sum canon.Sum) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return c.Algorithm == RSA && rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], c.Signature) == nil
	case ed25519.PublicKey:
		return c.Algorithm == Ed25519 && ed25519.Verify(k, sum[:], c.Signature)
	}
	return false
}

// Temporary reports whether an error of a verification may go away.
func Temporary(err error) bool { return errors.Is(err, txt.ErrTemporary) }

// SignSum signs sum with a key and names the algorithm.
func SignSum(key crypto.Signer, sum canon.Sum) (signature []byte, err error) {
	var opts crypto.SignerOpts = crypto.SHA256
	if _, ok := key.Public().(ed25519.PublicKey); ok {
		opts = crypto.Hash(0) // RFC 8463 §3: the sum itself is the message
	}
	if signature, err = key.Sign(rand.Reader, sum[:], opts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return signature, nil
}

// Algorithm is the a= of what a key signs.
func Algorithm(key crypto.Signer) (string, error) {
	switch key.Public().(type) {
	case *rsa.PublicKey:
		return RSA, nil
	case ed25519.PublicKey:
		return Ed25519, nil
	}
	return "", fmt.Errorf("%w: a %T", ErrKey, key.Public())
}

// Seconds reads a t= or x= that is there: seconds since 1970.
func Seconds(v string) (int64, error) {
	n, err := strconv.ParseUint(v, 10, 40) // RFC 6376 §3.5: at most 12 digits
	if err != nil {
		return 0, fmt.Errorf("%w: time %.20q", ErrSignature, v)
	}
	return int64(n), nil
}
