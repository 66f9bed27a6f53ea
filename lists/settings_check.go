package lists

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func oneLine(v string) error {
	if strings.ContainsAny(v, "\r\n\x00") {
		return fmt.Errorf("one line only")
	}
	return nil
}

func yesNo(v string) error {
	_, err := parseBool(v)
	return err
}

func text(v string) error {
	if strings.ContainsRune(v, 0) {
		return fmt.Errorf("a NUL octet is not text")
	}
	return nil
}

// between checks a whole number.
func between(lo, hi int64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < lo || n > hi {
			return fmt.Errorf("%q is not a whole number from %d to %d", v, lo, hi)
		}
		return nil
	}
}

// oneOf checks a choice.
func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("%q is none of %s", v, strings.Join(values, ", "))
		}
		return nil
	}
}

// duration checks a span of time such as 12h or 5d.
func duration(v string) error {
	_, err := ParseDuration(v)
	return err
}

// ParseDuration is time.ParseDuration that also knows whole days ("5d").
func ParseDuration(v string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(v, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is not a span of time such as 90s, 12h or 5d", v)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a span of time such as 90s, 12h or 5d", v)
	}
	return d, nil
}

// styleName checks the name of a row of Styles.
func styleName(v string) error {
	if _, ok := Styles[v]; !ok {
		return fmt.Errorf("%q is none of %s", v, strings.Join(slices.Sorted(maps.Keys(Styles)), ", "))
	}
	return nil
}

// senderFields are what sender_headers may name; "from_" is the envelope sender.
var senderFields = []string{"from", "from_", "reply-to", "sender"}

func senderHeaders(v string) error {
	words := strings.Fields(v)
	for _, w := range words {
		if !slices.Contains(senderFields, w) {
			return fmt.Errorf("%q is none of %s", w, strings.Join(senderFields, ", "))
		}
	}
	if len(words) == 0 {
		return fmt.Errorf("at least one of %s", strings.Join(senderFields, ", "))
	}
	return nil
}

// maxHundredths is the largest number that ParseHundredths takes, 10000.
const maxHundredths = 10000 * 100

// ParseHundredths reads a number from 0 to 10000 with at most two decimals, such as 5,
// 5.0 or 0.25, and gives it times hundred: such numbers add up alike on every host.
func ParseHundredths(v string) (int64, error) {
	whole, part, dot := strings.Cut(v, ".")
	digits := part + "00"
	n, err := strconv.ParseUint(whole+digits[:2], 10, 32)
	if err != nil || n > maxHundredths || whole == "" || dot && part == "" || strings.Trim(digits[2:], "0") != "" {
		return 0, fmt.Errorf("%q is not a number from 0 to 10000 with at most two decimals", v)
	}
	return int64(n), nil
}

// hundredths checks a number with at most two decimals.
func hundredths(v string) error {
	_, err := ParseHundredths(v)
	return err
}
