package handlers_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

// goldenSettings are the settings that each message of testdata/golden/in goes through the
// posting pipeline with; testdata/golden/NAME has what goes out, with LF for CRLF.
var goldenSettings = []struct {
	name     string
	settings []string
	// decorated: the reader finds the footer once.
	decorated bool
}{
	{"bare", nil, false},
	{"footer", []string{"subject_prefix", "[Ant %d]", "footer", footer, "description", "All about ants"}, true},
	{"both", []string{"header", "Above, for $display_name.\n", "footer", "_____\nGrüße aus $display_name\n", "subject_prefix", "[Ämeise]",
		"archive_base_url", "https://lists.example.com/archive/$list_id/"}, true},
	{"munge", []string{"dmarc_mitigate_action", "munge_from", "dmarc_mitigate_unconditionally", "yes", "reply_goes_to_list", "point_to_list",
		"subject_prefix", "[Ant]", "footer", footer}, true},
	{"wrap", []string{"dmarc_mitigate_action", "wrap_message", "dmarc_mitigate_unconditionally", "yes", "subject_prefix", "[Ant]",
		"dmarc_wrapped_message_text", "The post to $listname is attached.", "footer", footer}, true},
	{"anonymous", []string{"anonymous_list", "yes", "footer", footer, "subject_prefix", "[Ant]"}, true},
	{"filter", []string{"filter_content", "yes", "filter_types", "image", "filter_extensions", "exe", "convert_html_to_plaintext", "yes", "footer", footer}, false},
	{"announce", []string{"allow_list_posts", "no", "reply_goes_to_list", "explicit_header_only", "reply_to_address", "office@example.com",
		"remove_dkim_headers", "yes", "include_rfc2369_headers", "yes", "topics_enabled", "yes", "topics", "greetings: hello|gr"}, false},
	{"untouched", []string{"style", "untouched", "subject_prefix", "[Ant]", "footer", footer, "header", "Above.", "reply_goes_to_list", "point_to_list"}, false},
}

// copyOf is a message of testdata/golden/in as it came, and its copy or why there is none.
func copyOf(t *testing.T, file string, settings []string) (came []byte, p *lists.Post, disposed string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p = liststest.Post(liststest.List(liststest.Members(), settings...), "anne@example.org", string(raw))
	came = p.Message.Bytes()
	handlers.Protect(p)
	err = handlers.Run(context.Background(), p)
	var d *lists.Disposal
	if errors.As(err, &d) {
		return came, p, "(" + d.Action + ": " + d.Reason + ")\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	return came, p, ""
}

func goldenInputs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/in/*.eml")
	if err != nil || len(files)*len(goldenSettings) < 100 {
		t.Fatal("not a hundred golden files", err)
	}
	return files
}

func TestGolden(t *testing.T) {
	for _, file := range goldenInputs(t) {
		for _, s := range goldenSettings {
			name := filepath.Join("testdata/golden", s.name, strings.TrimSuffix(filepath.Base(file), ".eml")+".want")
			came, p, disposed := copyOf(t, file, s.settings)
			got := disposed
			if disposed == "" {
				raw := p.Message.Wire()
				got = string(message.LF(raw))
				for _, broken := range liststest.BreaksRFC(raw, came) {
					t.Errorf("%s: %s", name, broken)
				}
			}
			if *update {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}
