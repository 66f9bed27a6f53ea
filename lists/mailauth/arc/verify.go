package arc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
)

// Verdict is what came of a chain.
type Verdict struct {
	// Status is authres.None, Pass, Fail, or TempError: the DNS did not answer.
	Status string
	// Sets is the number of the newest set.
	Sets int
	// Err says why the chain fails.
	Err error
	// Dead: the newest seal itself says that the chain had failed. Nobody adds to
	// such a chain (§5.1).
	Dead bool
}

// Verify checks a message's chain (§5.2).
func Verify(ctx context.Context, m *message.Message, r txt.Resolver) Verdict {
	c, err := read(m)
	v := Verdict{Status: authres.None, Sets: c.highest}
	if err == nil && len(c.sets) == 0 {
		return v
	}
	if v.Dead = c.cv() == authres.Fail; v.Dead && err == nil {
		err = fmt.Errorf("%w: it had failed before set %d", ErrChain, len(c.sets))
	}
	if err == nil {
		err = c.verify(ctx, r)
	}
	switch {
	case err == nil:
		v.Status = authres.Pass
	case dkim.Temporary(err):
		v.Status, v.Err = authres.TempError, err
	default:
		v.Status, v.Err = authres.Fail, err
	}
	return v
}

// verify checks the newest message signature and every seal. Cheap tests come first.
func (c *chain) verify(ctx context.Context, r txt.Resolver) error {
	for i, s := range c.sets {
		want := authres.Pass
		if i == 0 {
			want = authres.None
		}
		if cv, _ := s.sealTags.Get("cv"); cv != want {
			return fmt.Errorf("%w: seal %d says cv=%.10q", ErrChain, i+1, cv)
		}
	}
	newest := c.sets[len(c.sets)-1]
	if err := c.verifyMessage(ctx, r, newest); err != nil {
		return fmt.Errorf("message signature %d: %w", len(c.sets), err)
	}
	for n := len(c.sets); n > 0; n-- {
		if err := c.verifySeal(ctx, r, n); err != nil {
			return fmt.Errorf("seal %d: %w", n, err)
		}
	}
	return nil
}

func (c *chain) verifyMessage(ctx context.Context, r txt.Resolver, s set) error {
	claim, err := dkim.ParseClaim(s.messageTags)
	if err != nil {
		return err
	}
	if err := checkTime(s.messageTags); err != nil {
		return err
	}
	// Unlike DKIM's, a signature of ARC without c= is made over the relaxed forms: so do
	// all implementations, and the test suite that they share.
	header, body, err := dkim.Forms(s.messageTags, canon.Relaxed)
	if err != nil {
		return err
	}
	names := s.messageTags.List("h")
	switch {
	case names == nil, len(names) > maxNames:
		return fmt.Errorf("%w: no h=, or too long", dkim.ErrSignature)
	case slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, fieldSeal) }):
		return fmt.Errorf("%w: it covers a seal", dkim.ErrSignature) // §4.1.2
	}
	sum := canon.BodySum(c.m.Body(), body)
	if bh, _ := s.messageTags.Bytes("bh"); string(bh) != string(sum[:]) {
		return fmt.Errorf("%w: the body is another", dkim.ErrSignature)
	}
	_, err = claim.Verify(ctx, r, canon.Digest(c.m.Fields(), names, s.message, nil, header))
	return err
}

const maxNames = 200

func (c *chain) verifySeal(ctx context.Context, r txt.Resolver, n int) error {
	s := c.sets[n-1]
	if _, ok := s.sealTags.Get("h"); ok {
		return fmt.Errorf("%w: a seal has no h=", dkim.ErrSignature) // §4.1.3
	}
	claim, err := dkim.ParseClaim(s.sealTags)
	if err != nil {
		return err
	}
	if err := checkTime(s.sealTags); err != nil {
		return err
	}
	text := append(c.sealed(nil, n), canon.Own(c.m.Fields()[s.seal].Raw, canon.Relaxed)...)
	_, err = claim.Verify(ctx, r, sha256.Sum256(text))
	return err
}

// checkTime reads t=; when a seal was made does not matter, but nonsense does.
func checkTime(tags canon.Tags) error {
	t, ok := tags.Get("t")
	if !ok {
		return nil
	}
	_, err := dkim.Seconds(t)
	return err
}

// Reason is why a verdict is not "pass", in one line; "" if there is none.
func (v Verdict) Reason() string {
	if v.Err == nil {
		return ""
	}
	if inner := errors.Unwrap(v.Err); inner != nil && errors.Is(v.Err, dkim.ErrSignature) {
		return inner.Error()
	}
	return v.Err.Error()
}
