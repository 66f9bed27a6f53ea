package subscribe

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// day is what limits are about.
const day = 24 * time.Hour

// mayAsk counts a mail that asks an address to confirm something. false: the address, or
// the list, has had its share of the day. Somebody may be asking in another's name, to
// flood him, and then silence is all that helps.
func (d Desk) mayAsk(to mailaddr.Address) ([]store.Change, bool) {
	set := d.list().Settings
	sum := sha256.Sum256([]byte(to.Key())) // nobody's address is kept for having been named
	var out []store.Change
	for _, c := range []struct {
		key   string
		limit int64
	}{
		{"confirm/" + base64.RawURLEncoding.EncodeToString(sum[:12]), set.Int("max_confirmations_per_address")},
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
