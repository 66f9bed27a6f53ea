package commands

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	table := append(slices.Clone(Verbs), Verb{Names: []string{"blocky"}, Block: true})
	long := strings.Repeat("echo x\n", 8)
	for _, tc := range []struct {
		subject, text string
		want          string // verb words|words; ...
		bad           int
	}{
		{"", "", "", 0},
		{"help", "", "help", 0},
		{"Re: HELP!", "", "help", 0},
		{"Réf\u00a0: JOIN", "", "join", 0},
		{"Re:AW: [x] join", "", "", 0},
		{"回复：subscribe", "", "join", 0},
		{"Re[2]: who", "", "who", 0},
		{"help: what is this", "", "", 0}, // the word before a colon is a prefix
		{"hello", "join digest=mime address=a@b.org\n", "join digest=mime address=a@b.org", 0},
		{"join", "Join.\njoin\n", "join", 0},
		{"", "*unsubscribe*\n", "leave", 0},
		{"", "set hide on\nset digest off\nhelp\nset ack on", "set hide on|digest off|ack on; help", 0},
		{"", "end\njoin\n", "end", 0},
		{"join", "stop", "join; end", 0},
		{"", "Dear list,\nplease\ntake me off\nleave\n", "", 3},
		{"", "Hello\nleave\n", "leave", 1},
		{"", long + "echo 1\necho 2\necho 3\necho 4\n", "echo x; echo 1; echo 2", 0},
		{"", "> join\njoin now\n-- \nleave\n", "join now", 0},
		{"", "blocky\na@b.org\nhelp me <c@d.org>\n\nwho\n", "blocky [a@b.org,help me <c@d.org>]; who", 0},
		{"", "blocky\na@b.org\nEnd\nwho", "blocky [a@b.org]; end", 0},
		{strings.Repeat("join ", 5000), "", "", 0},
	} {
		calls, bad := Read(table, tc.subject, Own(tc.text))
		var got []string
		for _, c := range calls {
			var lines []string
			for _, l := range c.Lines {
				lines = append(lines, strings.Join(l, " "))
			}
			s := strings.TrimSpace(c.Verb.Names[0] + " " + strings.Join(lines, "|"))
			if c.Block != nil {
				s += fmt.Sprintf(" [%s]", strings.Join(c.Block, ","))
			}
			got = append(got, s)
		}
		if strings.Join(got, "; ") != tc.want || len(bad) != tc.bad {
			t.Errorf("%.40q, %q: %q, bad %q; want %q", tc.subject, tc.text, got, bad, tc.want)
		}
	}
}

// The manual has every verb with its arguments and what it does.
func TestManualOfVerbs(t *testing.T) {
	text, err := os.ReadFile("../../docs/subscribing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Verbs {
		if v.Owners {
			continue // they have a manual of their own
		}
		row := "| `" + strings.TrimSpace(strings.Join(v.Names, "`, `")+"` "+code(v.Args))
		if !strings.Contains(string(text), row) {
			t.Errorf("no row that begins with %s", row)
		}
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"join", "Re: set a b", "help.\njoin now please\n-- \nZed", "confirm x\nend\nleave", "*who*\n\n\n", "echo \x00\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, subject, text string) {
		calls, bad := Read(Verbs, subject, Own(text))
		if len(calls) > mostLines+1 || len(bad) > mostBad {
			t.Errorf("%d calls, %d bad lines", len(calls), len(bad))
		}
		for _, c := range calls {
			if strings.ContainsAny(strings.ReplaceAll(c.Text, "\n", ""), "\r\x00\x1b") || len(c.Text) > (mostShown+4)*(mostLines+1) {
				t.Errorf("text %q", c.Text)
			}
		}
	})
}
