// Package oneclick makes and checks the tokens of one-click unsubscription (RFC 8058):
// a URL in each copy that takes exactly this member off exactly this list, for whoever
// sends a POST to it, and that nobody can make up.
package oneclick

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"qrunner/lists"
)

// PostField and PostValue are the second header field, and what the POST's body says
// (RFC 8058 §3.1). List-Unsubscribe and this one must be in h= of a DKIM signature.
const (
	PostField = "List-Unsubscribe-Post"
	PostValue = "List-Unsubscribe=One-Click"
)

// ErrToken: the token was not made by this list's key, or is too old.
var ErrToken = errors.New("no valid unsubscribe token")

// A token is, before base64: version, day of issue, member number, tag.
const (
	version = 1
	tagSize = 16
	day     = 24 * time.Hour
	size    = 1 + 4 + 8 + tagSize
)

// Key makes and checks the tokens of one list.
type Key struct{ key []byte }

// NewKey derives a list's key from a secret of the site's, at least 16 random octets. A
// list that is deleted and made again (another incarnation) does not know old tokens.
func NewKey(secret []byte, list lists.ID, incarnation string) Key {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "one-click\x00%s\x00%s", list, incarnation)
	return Key{h.Sum(nil)}
}

// Token is for one member, dated with the day of at. It is safe in URLs.
func (k Key) Token(member lists.MemberID, at time.Time) string {
	b := make([]byte, 0, size)
	b = append(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(at.Unix()/int64(day/time.Second)))
	b = binary.BigEndian.AppendUint64(b, uint64(member))
	return base64.RawURLEncoding.EncodeToString(append(b, k.tag(b)...))
}

// Check tells whose token it is. ErrToken for any other text, and for tokens that were
// made more than maxAge ago or, by a wrong clock, more than a day ahead.
func (k Key) Check(token string, now time.Time, maxAge time.Duration) (lists.MemberID, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != size || b[0] != version {
		return 0, ErrToken
	}
	text, tag := b[:size-tagSize], b[size-tagSize:]
	if !hmac.Equal(tag, k.tag(text)) {
		return 0, ErrToken
	}
	made := time.Unix(int64(binary.BigEndian.Uint32(text[1:]))*int64(day/time.Second), 0)
	if age := now.Sub(made); age < -day || age > maxAge+day {
		return 0, fmt.Errorf("%w: too old", ErrToken)
	}
	member := binary.BigEndian.Uint64(text[5:])
	if member == 0 {
		return 0, ErrToken
	}
	return lists.MemberID(member), nil
}

func (k Key) tag(text []byte) []byte {
	h := hmac.New(sha256.New, k.key)
	h.Write(text)
	return h.Sum(nil)[:tagSize]
}

// URL is the page of a token below base, an https URL without query.
func URL(base string, list lists.ID, token string) string {
	return strings.TrimRight(base, "/") + "/" + url.PathEscape(string(list)) + "/" + token
}

// Fields are the two header fields of a copy, folded: exactly one https URL, and the address
// for those who write mail.
func Fields(page string, list lists.ID) string {
	return "List-Unsubscribe: <" + page + ">,\r\n <mailto:" + string(list.Address(lists.SubLeave)) + ">\r\n" +
		PostField + ": " + PostValue + "\r\n"
}
