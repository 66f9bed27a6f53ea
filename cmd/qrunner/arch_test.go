package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// areas lists the house from the ground up; a package imports its own area's root,
// its neighbours where that makes no cycle, and what lies below.
var areas = []string{"locking", "lists", "queue", "cmd"}

// ground are the packages that the roots themselves stand on.
var ground = map[string][]string{
	"locking": {},
	"lists":   {"qrunner/lists/mailaddr", "qrunner/lists/message"},
	"queue":   {"qrunner/lists", "qrunner/lists/mailaddr", "qrunner/lists/message", "qrunner/lists/store"},
}

// doors names the only packages that may import a third-party module (prefixes,
// below "qrunner/"); tests may use what they like of the modules for tests.
var doors = map[string][]string{
	"gopkg.in/yaml.v3":                  {"cmd/qrunner/config"},
	"github.com/go-zookeeper/zk":        {"locking/zklock"},
	"github.com/emersion/go-smtp":       {"queue/intake", "queue/queuetest"},
	"github.com/emersion/go-message":    {"lists/message", "lists/bounces", "lists/commands", "lists/digest"},
	"github.com/emersion/go-msgauth":    {"lists/mailauth"},
	"github.com/emersion/go-sasl":       {"queue/smtpout", "queue/intake"},
	"github.com/prometheus":             {"queue/status"},
	"github.com/alecthomas/kong":        {"cmd/qrunner"},
	"github.com/google/btree":           {"lists/store"},
	"github.com/k3a/html2text":          {"lists/handlers"},
	"golang.org/x/text":                 {"lists/message", "lists/mailaddr", "lists/bounces", "lists/handlers"},
	"golang.org/x/net":                  {"lists/mailaddr", "lists/mailauth", "lists/message", "lists/handlers"},
	"golang.org/x/crypto":               {"lists/rules", "lists/store", "lists"},
	"github.com/anishathalye/porcupine": {"locking/locktest"},
	"pgregory.net/rapid":                {},
	"go.uber.org/goleak":                {},
	"github.com/google/go-cmp":          {},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Doc        string
	Standard   bool
}

// TestImportsGoDown reads what go list says, so that docs/architecture.md cannot rot.
func TestImportsGoDown(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "qrunner/")
		area, _, sub := strings.Cut(name, "/")
		level := slices.Index(areas, area)
		if level < 0 {
			t.Errorf("%s is outside the house", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, "qrunner/"); ok {
				to, _, _ := strings.Cut(own, "/")
				if slices.Index(areas, to) > level {
					t.Errorf("%s imports %s: upwards", p.ImportPath, imp)
				}
				if !sub && area != "cmd" && !slices.Contains(ground[area], imp) {
					t.Errorf("%s, a root, imports %s", p.ImportPath, imp)
				}
				continue
			}
			checkDoor(t, name, imp)
		}
		if p.Doc == "" && area != "cmd" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func checkDoor(t *testing.T, name, imp string) {
	t.Helper()
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") || strings.HasPrefix(imp, "golang.org/x/sys") || strings.HasPrefix(imp, "golang.org/x/sync") {
		return
	}
	for module, through := range doors {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			if !slices.Contains(through, name) && !slices.ContainsFunc(through, func(d string) bool { return strings.HasPrefix(name, d+"/") }) {
				t.Errorf("qrunner/%s imports %s: its door is %v", name, imp, through)
			}
			return
		}
	}
	t.Errorf("qrunner/%s imports %s, which has no door", name, imp)
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", "qrunner/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
