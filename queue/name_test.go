package queue

import (
	"testing"
	"time"
)

func TestIDRoundTripAndOrder(t *testing.T) {
	at := time.UnixMicro(1_700_000_000_123_456)
	a := NewID(at, 7, "Host.One", 1)
	b := NewID(at.Add(time.Microsecond), 1, "a", 2)
	if a >= b {
		t.Errorf("%s does not sort before %s", a, b)
	}
	for _, id := range []ID{a, b} {
		if got, err := ParseID(string(id)); err != nil || got != id {
			t.Errorf("ParseID(%s) = %s, %v", id, got, err)
		}
	}
	if !a.Time().Equal(at) {
		t.Errorf("time %v, want %v", a.Time(), at)
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{"", "x", "..", "0000000000000001.00000001.a/b.0000000000000001",
		"0000000000000001.00000001..0000000000000001", "000000000000000G.00000001.a.0000000000000001"} {
		if _, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) passes", s)
		}
	}
}
