package handlers_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Another reader than ours finds in every copy what the author wrote and attached, and
// header and footer once.
func TestIndependentReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: no reader but our own")
	}
	var pairs []map[string]any
	for _, file := range goldenInputs(t) {
		for _, s := range goldenSettings {
			if s.name == "filter" {
				continue // takes out what the author attached
			}
			came, p, disposed := copyOf(t, file, s.settings)
			if disposed != "" {
				t.Fatalf("%s: %s", file, disposed)
			}
			one := map[string]any{"name": s.name + "/" + filepath.Base(file), "came": came, "copy": p.Message.Wire(), "header": "", "footer": ""}
			if s.decorated {
				one["footer"] = added(s.settings, "footer")
				one["header"] = added(s.settings, "header")
			}
			pairs = append(pairs, one)
		}
	}
	// The reader can tell: one copy lacks what was attached, one the footer.
	came, p, _ := copyOf(t, "testdata/golden/in/17-attachments.eml", []string{"filter_content", "yes", "filter_types", "image"})
	pairs = append(pairs,
		map[string]any{"name": "control 1", "came": came, "copy": p.Message.Wire(), "header": "", "footer": ""},
		map[string]any{"name": "control 2", "came": came, "copy": came, "header": "", "footer": "foot"})
	in, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/reader.py")
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if n := len(lines); err != nil || n != 2 || !strings.HasPrefix(lines[0], "control 1: lost: ('image/gif', 'x.gif'") || !strings.HasPrefix(lines[1], "control 2: 0 times: 'foot'") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%d copies", len(pairs)-2)
}

// added is what header and footer of the golden settings say in the end.
func added(settings []string, name string) string {
	i := slices.Index(settings, name)
	if i < 0 {
		return ""
	}
	return strings.NewReplacer("$display_name", "Ant", "$posting_address", ant, "${listname}", ant).Replace(settings[i+1])
}
