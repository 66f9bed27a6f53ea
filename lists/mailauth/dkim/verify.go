package dkim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

// Limits against messages that are made to cost time.
const (
	// MaxSignatures is how many of a message's signatures are looked at.
	MaxSignatures = 5
	maxNames      = 200
	skew          = 5 * time.Minute // how far the signer's clock may be ahead
)

// Verification is what came of one signature.
type Verification struct {
	Domain, Selector string
	// Identity is i=: on whose behalf the domain signed; "@domain" if it does not say.
	Identity string
	// Signature is the first characters of b=, which tell signatures apart (RFC 6008).
	Signature string
	// Partial: l= leaves the end of the body unsigned. Such a signature tells nothing
	// about what a reader sees.
	Partial bool
	// Err is nil if the signature is valid; see ErrSignature and Temporary.
	Err error
}

// Verify checks the first MaxSignatures signatures of a message at a time.
func Verify(ctx context.Context, m *message.Message, r txt.Resolver, now time.Time) []Verification {
	v := verifier{m: m, r: r, now: now, sums: map[bodyKey]bodySum{}}
	var out []Verification
	for i, f := range m.Fields() {
		if !strings.EqualFold(f.Name, field) {
			continue
		}
		if len(out) == MaxSignatures {
			break
		}
		out = append(out, v.one(ctx, i))
	}
	return out
}

// verifier keeps the body's sums, which most signatures of a message share.
type verifier struct {
	m    *message.Message
	r    txt.Resolver
	now  time.Time
	sums map[bodyKey]bodySum
}

type bodyKey struct {
	form  canon.Form
	limit int64
}

type bodySum struct {
	sum   canon.Sum
	total int64
}

func (v *verifier) one(ctx context.Context, i int) (out Verification) {
	tags, err := canon.ParseTags(rawValue(v.m.Fields()[i]))
	if err != nil {
		return Verification{Err: fmt.Errorf("%w: %w", ErrSignature, err)}
	}
	if version, _ := tags.Get("v"); version != "1" {
		return Verification{Err: fmt.Errorf("%w: version %.20q", ErrSignature, version)}
	}
	claim, err := ParseClaim(tags)
	if err != nil {
		return Verification{Err: err}
	}
	out.Domain, out.Selector = claim.Domain, claim.Selector
	out.Signature = first(canon.NoBlanks(get(tags, "b")), 8)
	if out.Identity, err = identity(tags, claim.Domain); err != nil {
		return out.with(err)
	}
	if err := v.fresh(tags); err != nil {
		return out.with(err)
	}
	if methods := tags.List("q"); methods != nil && !slices.Contains(methods, "dns/txt") {
		return out.with(fmt.Errorf("%w: no query method that we know", ErrSignature))
	}
	sum, partial, err := v.digest(tags, i)
	if err != nil {
		return out.with(err)
	}
	out.Partial = partial
	key, err := claim.Verify(ctx, v.r, sum)
	if err == nil && key.Strict && !strings.HasSuffix(out.Identity, "@"+claim.Domain) {
		err = fmt.Errorf("%w: the key does not sign for subdomains", ErrSignature)
	}
	return out.with(err)
}

func (o Verification) with(err error) Verification {
	o.Err = err
	return o
}

// digest checks the body against bh= and hashes what b= signs.
func (v *verifier) digest(tags canon.Tags, own int) (sum canon.Sum, partial bool, err error) {
	header, body, err := Forms(tags, canon.Simple)
	if err != nil {
		return sum, false, err
	}
	names := tags.List("h")
	if len(names) > maxNames || !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, "From") }) {
		return sum, false, fmt.Errorf("%w: h= is too long or lacks From", ErrSignature)
	}
	limit := int64(-1)
	if l, ok := tags.Get("l"); ok {
		if limit, err = strconv.ParseInt(l, 10, 64); err != nil || limit < 0 {
			return sum, false, fmt.Errorf("%w: length %.20q", ErrSignature, l)
		}
	}
	b := v.body(bodyKey{body, limit})
	if bh, _ := tags.Bytes("bh"); string(bh) != string(b.sum[:]) || limit > b.total {
		return sum, false, fmt.Errorf("%w: the body is another", ErrSignature)
	}
	return canon.Digest(v.m.Fields(), names, own, nil, header), limit >= 0 && limit < b.total, nil
}

func (v *verifier) body(k bodyKey) bodySum {
	s, ok := v.sums[k]
	if !ok {
		s.sum, s.total = canon.BodySumLimit(v.m.Body(), k.form, k.limit)
		v.sums[k] = s
	}
	return s
}

// fresh checks t= and x= (RFC 6376 §3.5).
func (v *verifier) fresh(tags canon.Tags) error {
	t, hasT := tags.Get("t")
	x, hasX := tags.Get("x")
	var made, ends int64
	var err error
	if hasT {
		if made, err = Seconds(t); err != nil {
			return err
		}
		if time.Unix(made, 0).After(v.now.Add(skew)) {
			return fmt.Errorf("%w: made in the future", ErrSignature)
		}
	}
	if hasX {
		if ends, err = Seconds(x); err != nil {
			return err
		}
		if ends < made || v.now.After(time.Unix(ends, 0)) {
			return fmt.Errorf("%w: expired", ErrSignature)
		}
	}
	return nil
}

// identity reads i=, whose domain must be d= or below it.
func identity(tags canon.Tags, domain string) (string, error) {
	i, ok := tags.Get("i")
	if !ok {
		return "@" + domain, nil
	}
	at := strings.LastIndexByte(i, '@')
	d := strings.ToLower(ascii(i[at+1:]))
	if at < 0 || d != strings.ToLower(domain) && !strings.HasSuffix(d, "."+strings.ToLower(domain)) {
		return "", fmt.Errorf("%w: i= is not of the domain", ErrSignature)
	}
	return i, nil
}

// Forms reads c=; both forms are absent where it is not there.
func Forms(tags canon.Tags, absent canon.Form) (header, body canon.Form, err error) {
	c, ok := tags.Get("c")
	if !ok {
		return absent, absent, nil
	}
	if header, body, err = canon.ParseForms(c); err != nil {
		err = fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return header, body, err
}

// rawValue is what stands behind the colon, folding included.
func rawValue(f message.Field) string {
	_, v, _ := strings.Cut(string(f.Raw), ":")
	return v
}

func get(tags canon.Tags, name string) string {
	v, _ := tags.Get(name)
	return v
}

func first(s string, n int) string { return s[:min(n, len(s))] }
