package score

import (
	"strings"
	"time"

	"qrunner/lists/mailaddr"
)

// Record is what is known of one member's bounces. The zero Record is that of somebody
// who never bounced. A value: functions return a changed copy.
type Record struct {
	// Address is the one that bounced: a member who changes his begins anew.
	Address mailaddr.Address `json:"address"`
	Score   Points           `json:"score"`
	// Last is when the last bounce of a scored kind came, whether it got points or not.
	Last time.Time `json:"last,omitzero"`
	Kind Kind      `json:"kind,omitempty"`
	// Given is what the bounces on the day of Last (UTC) got.
	Given Points `json:"given,omitempty"`
	// Seen is when any copy last came back, for whatever reason; Post the list's last post
	// then.
	Seen time.Time `json:"seen,omitzero"`
	Post uint64    `json:"post,omitempty"`
	// Digest says that Post counts digests: the member gets those in place of posts.
	Digest bool `json:"digest,omitempty"`
	// Refused are the posts that were refused for policy, one after the other.
	Refused Streak `json:"refused,omitzero"`
	// Probed is when a probe went out; Limit the score at which delivery is disabled
	// although it did not come back.
	Probed time.Time `json:"probed,omitzero"`
	Limit  Points    `json:"limit,omitempty"`
	// Disabled is since when delivery is disabled for bounces; zero: it is not.
	Disabled time.Time `json:"disabled,omitzero"`
	// Warned counts the notices that the member got since, the first included; Notice is
	// when the last of them went out.
	Warned int       `json:"warned,omitempty"`
	Notice time.Time `json:"notice,omitzero"`
	// Removed is when the member was taken off the list for bounces.
	Removed time.Time `json:"removed,omitzero"`
	// Token is the secret by which the member answers notices and probes, and by which a
	// probe is known when it comes back; "" before the first.
	Token string `json:"token,omitempty"`
}

// Domain is where the member gets his mail, in lower case.
func (r Record) Domain() string { return strings.ToLower(r.Address.Domain()) }
