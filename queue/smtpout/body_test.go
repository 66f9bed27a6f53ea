package smtpout

import (
	"bytes"
	"hash/maphash"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	for _, tt := range []struct {
		raw, wire string
		size      int
		eight     bool
	}{
		{"", ".\r\n", 0, false},
		{"a\r\n", "a\r\n.\r\n", 3, false},
		{"a", "a\r\n.\r\n", 3, false},
		{".", "..\r\n.\r\n", 3, false},
		{".\r\n", "..\r\n.\r\n", 3, false},
		{"a\r\n.b\r\n..\r\n", "a\r\n..b\r\n...\r\n.\r\n", 11, false},
		{"a.b\r\n .\r\n", "a.b\r\n .\r\n.\r\n", 9, false},
		{"smuggle\n.\nMAIL", "smuggle\r\n..\r\nMAIL\r\n.\r\n", 18, false},
		{"smuggle\n.\r\nMAIL\r\n", "smuggle\r\n..\r\nMAIL\r\n.\r\n", 18, false},
		{"smuggle\r.\rMAIL\r\n", "smuggle . MAIL\r\n.\r\n", 16, false},
		{"X: a\r\r\nY: b\r\n", "X: a \r\nY: b\r\n.\r\n", 13, false},
		{"a\r", "a \r\n.\r\n", 4, false},
		{"\n\n", "\r\n\r\n.\r\n", 4, false},
		{"12345678\xe9\r\n", "12345678\xe9\r\n.\r\n", 11, true},
		{"\xe92345678\r\n", "\xe92345678\r\n.\r\n", 10, true},
	} {
		b := inspect([]byte(tt.raw))
		if got := string(b.wire([]byte(tt.raw))) + b.end; got != tt.wire || b.size != tt.size || b.eight != tt.eight {
			t.Errorf("%q: %q size %d eight %v, want %q size %d eight %v", tt.raw, got, b.size, b.eight, tt.wire, tt.size, tt.eight)
		}
	}
}

// A caller may fill one buffer with one message after the other.
func TestBodiesKnowContentNotAddresses(t *testing.T) {
	s := bodies{seed: maphash.MakeSeed()}
	buf := []byte("to a\r\n.x\r\n")
	first := s.get(buf)
	if s.get(bytes.Clone(buf)) != first {
		t.Error("the same content was looked at twice")
	}
	copy(buf, "to b")
	if got := string(s.get(buf).wire(buf)); got != "to b\r\n..x\r\n" {
		t.Errorf("second message %q", got)
	}
}

// Whatever the message, a receiver that knows only CRLF finds one end, and one that
// takes bare line feeds or returns for line ends finds the same.
func FuzzBody(f *testing.F) {
	for _, s := range []string{"", ".", "a\r\n.\r\nb", "\n.\n", "\r.\r", "\r\r\n", "..\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b := inspect(raw)
		wire := string(b.wire(raw)) + b.end
		if strings.Count(wire, "\r") != strings.Count(wire, "\r\n") || strings.Count(wire, "\n") != strings.Count(wire, "\r\n") {
			t.Fatalf("stray line end in %q", wire)
		}
		if i := strings.Index("\r\n"+wire, "\r\n.\r\n"); i != len("\r\n"+wire)-5 {
			t.Fatalf("ends at %d of %q", i, wire)
		}
		text := strings.ReplaceAll("\r\n"+strings.TrimSuffix(wire, ".\r\n"), "\r\n.", "\r\n")[2:]
		if len(text) != b.size {
			t.Fatalf("size %d, but %q", b.size, text)
		}
	})
}

func BenchmarkBody(b *testing.B) {
	raw := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog, again and again.\r\n", 80))
	s := bodies{seed: maphash.MakeSeed()}
	b.Run("same", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			s.get(raw)
		}
	})
	b.Run("new", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			inspect(raw)
		}
	})
	b.Run("stuffed", func(b *testing.B) {
		dots := bytes.ReplaceAll(raw, []byte("The"), []byte(".he"))
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			inspect(dots)
		}
	})
}
