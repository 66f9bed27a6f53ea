package arc

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/message"
)

// Sealing is what goes into a new set.
type Sealing struct {
	Signer dkim.Signer
	// Verdict is the state of the chain when the message came in, before anybody
	// changed it.
	Verdict Verdict
	// Results is what was found out about the message then, by the system whose
	// authserv-id it names.
	Results authres.Results
	// Names are the fields that the message signature covers; never those of ARC, nor
	// Authentication-Results (§4.1.2).
	Names []string
	// At is when.
	At time.Time
}

// Names lists what to sign of a message: what DKIM signs, and its signatures.
func Names(m *message.Message) []string {
	names := dkim.Names(m)
	for _, f := range m.Fields() {
		if strings.EqualFold(f.Name, "DKIM-Signature") {
			names = append(names, "dkim-signature")
		}
	}
	return names
}

// Seal makes a new set for a message in its wire form whose body has that sum in the
// relaxed form: the three fields to put before all others, in that order, after every
// other change. No fields where nothing may be added: the chain is dead (its newest
// seal says cv=fail), full, or in a state that could not be found out.
func Seal(m *message.Message, body canon.Sum, s Sealing) ([]message.Field, error) {
	c, broken := read(m)
	v := s.Verdict
	if v.Dead || c.cv() == authres.Fail || c.highest >= MaxSets || v.Status == authres.TempError {
		return nil, nil
	}
	cv := v.Status
	if broken != nil || v.Status == authres.None && c.highest > 0 {
		cv = authres.Fail
	}
	n := c.highest + 1
	results := message.NewField(fieldResults, "i="+strconv.Itoa(n)+"; "+authres.Format(s.Results))
	signature, err := s.signMessage(m, body, n)
	if err != nil {
		return nil, err
	}
	seal, err := s.seal(c, cv, results, signature)
	if err != nil {
		return nil, err
	}
	return []message.Field{seal, signature, results}, nil
}

// seal makes the ARC-Seal of a set on top of a chain. A failed chain is not covered:
// its fields may be missing or double (§5.1.2).
func (s Sealing) seal(c chain, cv string, results, signature message.Field) (message.Field, error) {
	var text []byte
	if cv == authres.Pass {
		n := len(c.sets)
		text = canon.AppendField(c.sealed(nil, n), c.m.Fields()[c.sets[n-1].seal].Raw, canon.Relaxed)
	}
	for _, f := range []message.Field{results, signature} {
		text = canon.AppendField(text, f.Raw, canon.Relaxed)
	}
	tags, err := s.tags(canon.Tags{{Name: "cv", Value: cv}}, c.highest+1)
	if err != nil {
		return message.Field{}, err
	}
	text = append(text, canon.Own(canon.Compose(fieldSeal, tags), canon.Relaxed)...)
	return s.finish(fieldSeal, tags, sha256.Sum256(text))
}

// signMessage makes the ARC-Message-Signature of instance n.
func (s Sealing) signMessage(m *message.Message, body canon.Sum, n int) (message.Field, error) {
	names := slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool {
		name = strings.ToLower(name)
		return strings.HasPrefix(name, "arc-") || name == "authentication-results"
	})
	tags, err := s.tags(canon.Tags{
		{Name: "bh", Value: base64.StdEncoding.EncodeToString(body[:])},
		{Name: "c", Value: "relaxed/relaxed"},
		{Name: "h", Value: strings.Join(names, ":")},
	}, n)
	if err != nil {
		return message.Field{}, err
	}
	sum := canon.Digest(m.Fields(), names, -1, canon.Compose(fieldMessage, tags), canon.Relaxed)
	return s.finish(fieldMessage, tags, sum)
}

// tags adds what both signatures say, in the order of the alphabet.
func (s Sealing) tags(own canon.Tags, n int) (canon.Tags, error) {
	alg, err := dkim.Algorithm(s.Signer.Key)
	if err != nil {
		return nil, err
	}
	all := append(own,
		canon.Tag{Name: "a", Value: alg}, canon.Tag{Name: "b"}, canon.Tag{Name: "d", Value: s.Signer.Domain},
		canon.Tag{Name: "i", Value: strconv.Itoa(n)}, canon.Tag{Name: "s", Value: s.Signer.Selector},
		canon.Tag{Name: "t", Value: strconv.FormatInt(s.At.Unix(), 10)})
	slices.SortFunc(all, func(a, b canon.Tag) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// finish fills in b=, which is the second.
func (s Sealing) finish(name string, tags canon.Tags, sum canon.Sum) (message.Field, error) {
	signature, err := dkim.SignSum(s.Signer.Key, sum)
	if err != nil {
		return message.Field{}, fmt.Errorf("seal for %s: %w", s.Signer.Domain, err)
	}
	tags[1].Value = base64.StdEncoding.EncodeToString(signature)
	return message.Field{Name: name, Raw: canon.Compose(name, tags)}, nil
}
