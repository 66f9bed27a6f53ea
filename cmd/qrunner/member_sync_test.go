package main

import "testing"

func TestShare(t *testing.T) {
	for _, tc := range []struct {
		say                 string
		gone, count, people int
		ok                  bool
	}{
		{"", 0, 5000, 0, true}, {"", 500, 5000, 4500, true}, {"", 501, 5000, 4499, false}, {"", 1, 5, 4, false},
		{"", 5000, 5000, 0, false}, {"", 1, 100, 0, false}, {"100%", 5000, 5000, 0, true}, {"20%", 2, 10, 8, true}, {"20%", 3, 10, 7, false},
		{"3", 3, 10, 7, true}, {"3", 4, 10, 6, false}, {"0", 1, 10, 9, false}, {"0%", 1, 1000, 999, false},
	} {
		s, err := parseShare(tc.say)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.allows(tc.gone, tc.count, tc.people); (err == nil) != tc.ok {
			t.Errorf("%q: %d of %d, %d in the file: %v", tc.say, tc.gone, tc.count, tc.people, err)
		}
	}
	for _, bad := range []string{"x", "-1", "101%", "%", "1.5"} {
		if _, err := parseShare(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
