package commands

import (
	"crypto/subtle"
	"regexp"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// tokenForm is how the token of a held post looks: its id, a dot, 130 random bits.
const tokenForm = `[a-z2-7]{10,52}\.[a-z2-7]{26}`

// Token is what gives the right to decide about a held post, by mail; "" if it has none.
func Token(p store.HeldPost) string {
	if p.Token == "" {
		return ""
	}
	return p.ID + "." + p.Token
}

// ConfirmAddress is where a moderator answers to: the token stands behind the "+" where
// the local part stays within what mail systems take (RFC 5321 §4.5.3.1.1), else only in
// the subject.
func ConfirmAddress(id lists.ID, token string) mailaddr.Address {
	t := lists.Target{List: id, Sub: lists.SubConfirm, Extra: token}
	if a := t.Address(); len(a.Local()) <= mailaddr.MaxLocal {
		return a
	}
	return id.Address(lists.SubRequest)
}

// FindToken looks for a token where answers carry it: in the address, behind the word
// "confirm" in the subject, or in the text that was quoted.
func FindToken(extra, subject, text string) string {
	if regexp.MustCompile(`^` + tokenForm + `$`).MatchString(strings.ToLower(extra)) {
		return strings.ToLower(extra)
	}
	word := regexp.MustCompile(`(?i)\bconfirm[ \t]+(` + tokenForm + `)\b`)
	for _, s := range []string{subject, text} {
		if m := word.FindStringSubmatch(s); m != nil {
			return strings.ToLower(m[1])
		}
	}
	return ""
}

// HeldBy is the held post that a token is for. A token that was used, or whose post has
// expired, is for none.
func HeldBy(st *store.State, token string) (store.HeldPost, bool) {
	id, secret, _ := strings.Cut(token, ".")
	p, ok := st.HeldPost(id)
	if !ok || p.Token == "" || subtle.ConstantTimeCompare([]byte(p.Token), []byte(secret)) != 1 {
		return store.HeldPost{}, false
	}
	return p, true
}
