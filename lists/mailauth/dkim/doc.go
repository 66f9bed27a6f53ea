// Package dkim signs messages and verifies their signatures (RFC 6376, with the
// algorithms of RFC 8301 and RFC 8463). Package arc builds on its keys.
package dkim

import "errors"

// ErrSignature: a signature does not verify, or cannot: malformed, no key, another
// text. Whatever wraps txt.ErrTemporary instead may verify later.
var ErrSignature = errors.New("no valid signature")

// ErrKey: a key or its DNS record cannot be used.
var ErrKey = errors.New("unusable key")

// field is the name of the header field.
const field = "DKIM-Signature"

// Algorithms of a= (RFC 8301 forbids rsa-sha1).
const (
	RSA     = "rsa-sha256"
	Ed25519 = "ed25519-sha256"
)

// minRSA is the shortest RSA key that counts, in bits (RFC 8301 §3.2).
const minRSA = 1024
