package subscribe

import (
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
	"time"

	"qrunner/lists/store"
)

// Lengths of a token's two parts, in letters of five bits: the name, which may be shown,
// and the secret.
const (
	idLen     = 10
	secretLen = 26
)

// Token is what proves the right to have a request carried out. Its form is that of a
// held post's.
func Token(p store.Pending) string { return p.ID + "." + p.Token }

// Find is the request that a token is for. A token that was used, that has expired, or
// that another list gave out is for none.
func Find(st *store.State, token string, at time.Time) (store.Pending, bool) {
	id, secret, _ := strings.Cut(strings.ToLower(token), ".")
	p, ok := st.Pending(id, at)
	if !ok || subtle.ConstantTimeCompare([]byte(p.Token), []byte(secret)) != 1 {
		return store.Pending{}, false
	}
	return p, true
}

// named gives a request its name and secret.
func (d Desk) named(p store.Pending) (store.Pending, error) {
	for {
		raw := make([]byte, 23)
		if _, err := io.ReadFull(d.Random, raw); err != nil {
			return p, fmt.Errorf("make token: %w", err)
		}
		all := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
		p.ID, p.Token = all[:idLen], all[idLen:idLen+secretLen]
		_, pending := d.State.Pending(p.ID, time.Time{})
		_, held := d.State.HeldPost(p.ID)
		if !pending && !held {
			return p, nil
		}
	}
}
