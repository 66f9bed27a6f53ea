package score

import (
	"encoding/json"
	"fmt"
	"strings"

	"qrunner/lists"
)

// Points is a score in hundredths of a point: whole numbers add up alike on every host.
type Points int64

// Point is what a hard bounce weighs.
const Point Points = 100

// ParsePoints reads a number of at most two decimals, from 0 to 10000.
func ParsePoints(s string) (Points, error) {
	n, err := lists.ParseHundredths(s)
	return Points(n), err
}

// String has one decimal, or two where they are needed: "5.0", "0.25".
func (p Points) String() string {
	sign := ""
	if p < 0 {
		sign, p = "-", -p
	}
	s := fmt.Sprintf("%s%d.%02d", sign, p/Point, p%Point)
	return strings.TrimSuffix(s, "0")
}

// MarshalJSON writes a number.
func (p Points) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads a number.
func (p *Points) UnmarshalJSON(b []byte) error {
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	text, negative := strings.CutPrefix(n.String(), "-")
	v, err := ParsePoints(text)
	if err != nil {
		return err
	}
	if *p = v; negative {
		*p = -v
	}
	return nil
}
