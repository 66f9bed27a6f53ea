package fanout

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// span is the recipients lo..hi of the recipients file, both included, from 0.
type span struct{ lo, hi int }

// set is recipients by number, in ascending order.
type set []span

// makeSet makes a set of ascending numbers.
func makeSet(numbers ...int) set {
	var s set
	for _, n := range numbers {
		if k := len(s) - 1; k >= 0 && s[k].hi == n-1 {
			s[k].hi = n
		} else {
			s = append(s, span{n, n})
		}
	}
	return s
}

// each calls f with the numbers of s within from..to-1.
func (s set) each(from, to int, f func(n int)) {
	for _, p := range s {
		for n := max(p.lo, from); n <= min(p.hi, to-1); n++ {
			f(n)
		}
	}
}

func (s set) append(b []byte) []byte {
	for i, p := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(p.lo), 10)
		if p.hi > p.lo {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(p.hi), 10)
		}
	}
	return b
}

func parseSet(text string) (set, error) {
	var s set
	last := -2
	for part := range strings.SplitSeq(text, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseUint(lo, 10, 31)
		b := a
		if err == nil && ranged {
			b, err = strconv.ParseUint(hi, 10, 31)
		}
		if err != nil || int(a) <= last || b < a || (ranged && a == b) || b == math.MaxInt32 {
			return nil, fmt.Errorf("%w: set %q", errLine, text)
		}
		s = append(s, span{int(a), int(b)})
		last = int(b)
	}
	return s, nil
}
