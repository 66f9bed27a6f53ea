package stage

import (
	"crypto/subtle"
	"regexp"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// secretLen is the secret part of a member's token: 80 bits.
const secretLen = 16

// memberToken is how the token looks that a probe and the notices to a disabled member
// carry: the member's number, a dash, the secret.
const memberToken = `[0-9a-z]{1,13}-[a-z2-7]{16}`

func tokenOf(id lists.MemberID, secret string) string {
	return strconv.FormatUint(uint64(id), 36) + "-" + secret
}

// extended is a service address with a token behind the "+", or, where the local part
// would be too long for that (RFC 5321 §4.5.3.1.1), without.
func extended(id lists.ID, sub lists.SubAddress, token string) mailaddr.Address {
	a := lists.Target{List: id, Sub: sub, Extra: token}.Address()
	if len(a.Local()) > mailaddr.MaxLocal {
		return id.Address(sub)
	}
	return a
}

// probed is the member whose token this is.
func (b *bouncing) probed(token string) (lists.MemberID, bool) {
	number, secret, ok := strings.Cut(token, "-")
	n, err := strconv.ParseUint(number, 36, 64)
	if !ok || err != nil || len(secret) != secretLen {
		return 0, false
	}
	known, ok := b.st.Bounce(lists.MemberID(n))
	if !ok || known.Token == "" || subtle.ConstantTimeCompare([]byte(known.Token), []byte(secret)) != 1 {
		return 0, false
	}
	return known.Member, true
}

// probeToken finds the token in the header of a notice of ours.
func probeToken(raw []byte) string { return subjectToken(message.Parse(raw)) }

// subjectToken finds a token behind the word "confirm" in a subject.
func subjectToken(m *message.Message) string {
	found := regexp.MustCompile(`(?i)\bconfirm[ \t]+(` + memberToken + `)\b`).FindStringSubmatch(message.DecodeHeader(m.Get("Subject")))
	if found == nil {
		return ""
	}
	return strings.ToLower(found[1])
}
