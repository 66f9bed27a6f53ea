package stage

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"qrunner/lists/liststest"
	"qrunner/lists/templates"
	"qrunner/queue"
)

// A footer may be a template of the site's own; the setting goes before it.
func TestFooterFromTemplate(t *testing.T) {
	const text = "--\nTo {{.user_email}} from {{.display_name}} for $5 {{if .user_name}}({{.user_name}}){{end}}\n"
	for _, tc := range []struct{ personalize, footer, want, gap string }{
		{"none", "", "hello\r\n--\r\nTo  from Ant for $5 \r\n", ""},
		{"individual", "", "hello\r\n", "--\r\nTo ${user_email} from Ant for $$5 (${user_name})\r\n"},
		{"none", "own", "hello\r\nown\r\n", ""},
	} {
		w := newWorld(t, liststest.Ant, "personalize", tc.personalize, "footer", tc.footer)
		w.conf.Templates = &templates.Set{Read: func(name string) (string, error) {
			if name == "templates/lists/ant@lists.example.com/en/list:member:regular:footer.txt" {
				return text, nil
			}
			return "", fs.ErrNotExist
		}}
		e := w.entry("anne@example.org", hello)
		o, err := Table(w.conf)[queue.In].Process(context.Background(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
		if err != nil {
			t.Fatal(err)
		}
		f := sent(o)
		_, body, _ := strings.Cut(string(f.Raw), "\r\n\r\n")
		gap := ""
		if len(f.Copies.Gaps) > 0 {
			gap = f.Copies.Gaps[0].Text
		}
		if body != tc.want || gap != tc.gap {
			t.Errorf("%+v: %q, %q", tc, body, gap)
		}
	}
}
