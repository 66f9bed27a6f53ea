package bounces

import "strings"

// haystack is a text that hundreds of phrases are looked for in. It remembers which
// pairs of octets occur, so that nearly all phrases are ruled out without a search.
type haystack struct {
	text  string
	pairs [64]uint64 // a bit for each hash of a pair
}

func newHaystack(text string) *haystack {
	h := &haystack{text: text}
	for i := 0; i+1 < len(text); i++ {
		k := pairHash(text[i], text[i+1])
		h.pairs[k>>6] |= 1 << (k & 63)
	}
	return h
}

// pairHash maps a pair of octets to 12 bits.
func pairHash(a, b byte) uint { return (uint(a)*37 ^ uint(b)<<4 ^ uint(b)>>3) & 0xfff }

// has reports whether phrase occurs in the text.
func (h *haystack) has(phrase string) bool {
	n := len(phrase)
	if n < 2 || n > len(h.text) {
		return n <= len(h.text) && strings.Contains(h.text, phrase)
	}
	for _, i := range [...]int{0, n / 2, n / 4, n - 2} {
		if i+1 >= n {
			continue
		}
		k := pairHash(phrase[i], phrase[i+1])
		if h.pairs[k>>6]&(1<<(k&63)) == 0 {
			return false
		}
	}
	return strings.Contains(h.text, phrase)
}

// any reports whether one of the phrases occurs.
func (h *haystack) any(phrases []string) bool {
	for _, p := range phrases {
		if h.has(p) {
			return true
		}
	}
	return false
}
