package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of octets, written as 50MB, 512KB or 1000.
type Size int64

// units, largest first; powers of two, as MTAs count.
var units = []struct {
	suffix string
	factor int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"B", 1}}

// ParseSize reads a Size.
func ParseSize(s string) (Size, error) {
	num, factor := strings.ToUpper(strings.TrimSpace(s)), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(num, u.suffix); ok {
			num, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseInt(num, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, fmt.Errorf("%q is not a size such as 50MB, 512KB or 1000", s)
	}
	return Size(n * factor), nil
}

// String writes the size with the largest unit that leaves a whole number.
func (s Size) String() string {
	for _, u := range units[:3] {
		if s != 0 && int64(s)%u.factor == 0 {
			return strconv.FormatInt(int64(s)/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
