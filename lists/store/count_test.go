package store

import (
	"bytes"
	"testing"
	"time"
)

func TestCounts(t *testing.T) {
	s := emptyState("ant@example.com", "i")
	day := time.Date(2024, 1, 1, 10, 0, 0, 0, time.UTC)
	st := &s
	for _, step := range []struct {
		key     string
		after   time.Duration
		want    int // of the key, after the step
		wantAll int // counts that are kept
	}{
		{"a", 0, 1, 1}, {"a", time.Minute, 2, 1}, {"b", 30 * time.Minute, 1, 2},
		{"a", 59 * time.Minute, 3, 2},
		{"a", time.Hour, 1, 2}, // the first count ended an hour after it began
		{"c", 3 * time.Hour, 1, 1},
	} {
		at := day.Add(step.after)
		next, err := st.With(at, AddCount{Key: step.key, At: at, Until: at.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if got := next.Count(step.key, at); got != step.want || next.counts.len() != step.wantAll || next.countEnd.len() != step.wantAll {
			t.Errorf("%+v: count %d, %d kept", step, got, next.counts.len())
		}
		st = next
	}
	if got := st.Count("c", day.Add(4*time.Hour)); got != 0 {
		t.Errorf("a count that has ended: %d", got)
	}
	var b bytes.Buffer
	st.version = 1
	if err := writeSnapshot(&b, st); err != nil {
		t.Fatal(err)
	}
	back, err := decodeSnapshot(&b)
	if err != nil || back.Count("c", day.Add(3*time.Hour)) != 1 || back.countEnd.len() != 1 {
		t.Errorf("after a snapshot: %+v, %v", back, err)
	}
}
