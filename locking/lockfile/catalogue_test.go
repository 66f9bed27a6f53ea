package lockfile

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The manual's catalogue of other locks' bugs has all of its fifty rows, and the tests that
// the manual names exist.
func TestCatalogueIsTrue(t *testing.T) {
	doc, err := os.ReadFile("../../docs/locking.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	for _, m := range regexp.MustCompile("`(?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+`").FindAllString(string(doc), -1) {
		if name := strings.Trim(m, "`"); !strings.Contains(code.String(), "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
	_, table, _ := strings.Cut(string(doc), "\n## Fifty bugs")
	rows := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \|.*\| (.+) \|$`).FindAllStringSubmatch(table, -1) {
		for n := range strings.SplitSeq(m[1], ", ") {
			rows[n]++
		}
		if !strings.Contains(m[2], "`") && !strings.HasPrefix(m[2], "cannot: ") {
			t.Errorf("bug %s: neither a test nor a reason: %s", m[1], m[2])
		}
	}
	for n := range 50 {
		if s := strconv.Itoa(n + 1); rows[s] != 1 {
			t.Errorf("bug %s has %d rows", s, rows[s])
		}
	}
}
