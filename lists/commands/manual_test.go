package commands

import (
	"os"
	"strings"
	"testing"
)

// The manual has every command of moderators with what it does.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/posting-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Moderation {
		if !strings.Contains(string(text), "| `"+c.Name+"` | "+strings.ReplaceAll(c.Doc, `"`, "`")+" |") {
			t.Errorf("%s: %s", c.Name, c.Doc)
		}
	}
}
