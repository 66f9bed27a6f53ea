package retry

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		attempt int
		age     time.Duration
		chance  float64
		want    time.Duration
		ok      bool
	}{
		{1, 0, 0.5, 5 * time.Minute, true},
		{2, 5 * time.Minute, 0.5, 10 * time.Minute, true},
		{3, 15 * time.Minute, 0.5, 20 * time.Minute, true},
		{6, time.Hour, 0.5, 160 * time.Minute, true},
		{7, time.Hour, 0.5, 4 * time.Hour, true},
		{1000000, time.Hour, 0.5, 4 * time.Hour, true},
		{0, 0, 0.5, 5 * time.Minute, true},
		{1, 0, 0, 270 * time.Second, true},
		{1, 0, 0.75, 315 * time.Second, true},
		{9, 5*day - time.Hour, 0.5, time.Hour, true},
		{9, 5*day - time.Millisecond, 0.5, time.Second, true},
		{9, 5 * day, 0.5, 0, false},
		{1, 9 * day, 0.5, 0, false},
		{1, -day, 0.5, 5 * time.Minute, true},
	}
	for _, tt := range tests {
		got, ok := Policy{}.Next(tt.attempt, tt.age, tt.chance)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Next(%d, %v, %v) = %v, %v; want %v, %v", tt.attempt, tt.age, tt.chance, got, ok, tt.want, tt.ok)
		}
	}
}

// TestNextReachesTheEnd walks a recipient that is deferred for ever.
func TestNextReachesTheEnd(t *testing.T) {
	age, tries := time.Duration(0), 1
	for {
		wait, ok := Policy{}.Next(tries, age, 0.5)
		if !ok {
			break
		}
		age += wait
		tries++
	}
	if age != 5*24*time.Hour || tries < 30 || tries > 40 {
		t.Errorf("given up after %v and %d tries", age, tries)
	}
}
