package memberfile

import (
	"fmt"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	long := "x" + strings.Repeat("y", 2*maxLine) + "@example.org"
	text := "\ufeffanne@example.org\r\n" +
		"\t bart@example.org \t\r\n" +
		"# a comment\n" +
		"\n" +
		"Cris Person <cris@Example.ORG>  # a friend\n" +
		"\"D. #1, \\\"Dora\\\"\" <dora@example.org>\n" +
		"emil@example.org\tEmil Person\n" +
		"f#g@example.org\n" +
		"J\xfcrgen <juergen@buecher.example>\n" +
		"<kim@example.org>\n" +
		"ANNE@example.org\n" +
		"nonsense\n" +
		"a@b@c\n" +
		"two@example.org, three@example.org\n" +
		"<x@example.org> <y@example.org>\n" +
		long + "\n" +
		"last@example.org"
	var told int
	people, bad, err := Read(strings.NewReader(text), func(n int) { told = n })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range people {
		got = append(got, fmt.Sprintf("%d %s %s", p.Line, p.Address, p.Name))
	}
	want := []string{
		"1 anne@example.org ", "2 bart@example.org ", "5 cris@example.org Cris Person", `6 dora@example.org D. #1, "Dora"`,
		"7 emil@example.org Emil Person", "8 f#g@example.org ", "9 juergen@buecher.example J\u00fcrgen", "10 kim@example.org ", "17 last@example.org ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var lines []int
	for _, b := range bad {
		lines = append(lines, b.Line)
	}
	if fmt.Sprint(lines) != "[11 12 13 14 15 16]" || told != 0 {
		t.Errorf("bad lines %v, told %d", bad, told)
	}
}

// A file of members never makes trouble, and no address comes out twice.
func FuzzRead(f *testing.F) {
	f.Add("\ufeffanne@example.org\r\nBart <bart@example.org> # x\n\"a\tb\" <c@d.org>\nx@y.org\tName\n")
	f.Add("<\n\"\n#\n\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		people, bad, err := Read(strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, p := range people {
			if seen[p.Address.Key()] {
				t.Errorf("%s comes twice", p.Address)
			}
			seen[p.Address.Key()] = true
		}
		if n := strings.Count(text, "\n") + 1; len(people)+len(bad) > n {
			t.Errorf("%d lines became %d", n, len(people)+len(bad))
		}
	})
}
