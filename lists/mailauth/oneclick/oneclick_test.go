package oneclick

import (
	"errors"
	"testing"
	"time"

	"qrunner/lists"
)

const ant lists.ID = "ant@lists.example.com"

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const year = 365 * day

func TestToken(t *testing.T) {
	secret := []byte("0123456789abcdef")
	k := NewKey(secret, ant, "i1")
	token := k.Token(7, now)
	if m, err := k.Check(token, now.Add(year), year); m != 7 || err != nil {
		t.Errorf("%d, %v", m, err)
	}
	if len(token) > 64 {
		t.Errorf("%d characters", len(token))
	}
	for name, other := range map[string]Key{
		"other list": NewKey(secret, "bee@lists.example.com", "i1"), "made again": NewKey(secret, ant, "i2"), "other site": NewKey([]byte("fedcba9876543210"), ant, "i1"),
	} {
		if _, err := other.Check(token, now, year); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, at := range map[string]time.Time{"old": now.Add(year + 2*day), "early": now.Add(-3 * day)} {
		if _, err := k.Check(token, at, year); !errors.Is(err, ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range token {
		forged := token[:i] + string(token[i]^1) + token[i+1:]
		if _, err := k.Check(forged, now, year); !errors.Is(err, ErrToken) {
			t.Errorf("forged at %d: %v", i, err)
		}
	}
}

func TestFields(t *testing.T) {
	const want = "List-Unsubscribe: <https://lists.example.com/m/ant@lists.example.com/TOKEN>,\r\n <mailto:ant-leave@lists.example.com>\r\n" +
		"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
	if got := Fields(URL("https://lists.example.com/m/", ant, "TOKEN"), ant); got != want {
		t.Errorf("%q", got)
	}
}

func FuzzCheck(f *testing.F) {
	k := NewKey([]byte("0123456789abcdef"), ant, "i1")
	f.Add(k.Token(1, now))
	f.Fuzz(func(t *testing.T, token string) {
		if m, err := k.Check(token, now, year); err == nil && (m != 1 || token != k.Token(1, now)) {
			t.Errorf("forged: %d", m)
		}
	})
}
