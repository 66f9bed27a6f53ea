package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
)

// TestLockView: snake_case, UTC, and nothing that is not known.
func TestLockView(t *testing.T) {
	at := time.Date(2026, 12, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	for name, c := range map[string]struct {
		report locking.Report
		want   string
	}{
		"free": {
			locking.Report{Key: "a@b", State: locking.StateFree, Why: "nobody holds it"},
			`{"key":"a@b","state":"free","why":"nobody holds it"}`,
		},
		"held": {
			locking.Report{
				Key: "a@b", State: locking.StateHeld, Now: at, Age: 1500 * time.Millisecond, Tickets: 1,
				Holder:  locking.Holder{Host: "h", PID: 7, Note: "in", Since: at, Seen: at, Until: time.Minute},
				Waiters: []locking.Holder{{Host: "i", PID: 8}},
			},
			`{"key":"a@b","state":"held","mode":"exclusive","holder":{"host":"h","pid":7,"note":"in","since":"2026-12-01T12:00:00Z",` +
				`"refreshed":"2026-12-01T12:00:00Z","left_seconds":60},"now":"2026-12-01T12:00:00Z","age_seconds":1.5,` +
				`"waiters":[{"host":"i","pid":8}],"tickets":1}`,
		},
		"unreadable": {
			locking.Report{Key: "a@b", State: locking.StateStale, Torn: true, Reason: "expired", Would: "take it over"},
			`{"key":"a@b","state":"stale","mode":"exclusive","holder":{},"unreadable":true,"reason":"expired","break_would":"take it over"}`,
		},
	} {
		got, err := json.Marshal(viewLock(c.report))
		if d := cmp.Diff(c.want, string(got)); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}
