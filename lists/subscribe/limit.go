package subscribe

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"qrunner/lists/store"
)

// day is what limits are about.
const day = 24 * time.Hour

// ownerShare is how many times as many mails as others an owner gets to confirm what he
// wants done.
const ownerShare = 10

// mayAsk counts a mail that asks an address to confirm something. false: the address, or
// the list, has had its share of the day. Somebody may be asking in another's name, to
// flood him, and then silence is all that helps.
// Owners, who have more to confirm, get more of it.
func (d Desk) mayAsk(a Ask) ([]store.Change, bool) {
	set := d.list().Settings
	sum := sha256.Sum256([]byte(a.Address.Key())) // nobody's address is kept for having been named
	key, limit := "confirm/", set.Int("max_confirmations_per_address")
	if a.Kind == store.PendingOwner {
		key, limit = "confirm-owner/", limit*ownerShare
	}
	var out []store.Change
	for _, c := range []struct {
		key   string
		limit int64
	}{
		{key + base64.RawURLEncoding.EncodeToString(sum[:12]), limit},
		{"confirm", set.Int("max_confirmations_per_day")},
	} {
		if c.limit == 0 || c.key == "confirm" && d.Trusted { // owners may invite many
			continue
		}
		if int64(d.State.Count(c.key, d.At)) >= c.limit {
			return nil, false
		}
		out = append(out, store.AddCount{Key: c.key, At: d.At, Until: d.At.Add(day)})
	}
	return out, true
}
