package handlers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

const (
	textPart = "Content-Type: text/plain; charset=iso-8859-1\n\nGr\xfc\xdfe\n"
	htmlPart = "Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<p>Gr=C3=BC=C3=9Fe <a href=3D\"https://x.example/\">there</a></p>\n"
	gifPart  = "Content-Type: image/gif; name=x.gif\nContent-Transfer-Encoding: base64\n\nR0lGODlh\n"
	exePart  = "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename*=utf-8''%78.EX%45%2e\n\nMZ\n"
	sigPart  = "Content-Type: application/pgp-signature\n\nxx\n"
)

const reportText = "\n[The list took out:\n  image/gif, x.gif]\n"

const reportPart = "Content-Type: text/plain; charset=us-ascii\nContent-Transfer-Encoding: 7bit\nContent-Disposition: inline\n\n" + reportText

// multi is a multipart with a preamble and an epilogue.
func multi(kind, boundary string, parts ...string) string {
	out := "Content-Type: multipart/" + kind + "; boundary=" + boundary + "\n\npreamble\n"
	for _, p := range parts {
		out += "--" + boundary + "\n" + p
	}
	return out + "--" + boundary + "--\nepilogue\n"
}

func forward(inner string) string { return "Content-Type: message/rfc822\n\nFrom: z@x.org\n" + inner }

// head is what every message of these tests starts with.
const head = "From: anne@example.org\nMIME-Version: 1.0\n"

// filtered is the message behind head after the filter, or why there is none.
func filtered(t *testing.T, entity string, settings ...string) string {
	t.Helper()
	l := liststest.List(liststest.Members(), append([]string{"filter_content", "yes", "include_rfc2369_headers", "no"}, settings...)...)
	p := liststest.Post(l, "anne@example.org", head+entity)
	err := handlers.Run(context.Background(), p)
	var d *lists.Disposal
	if errors.As(err, &d) {
		return d.Action + ": " + d.Reason
	}
	if err != nil {
		t.Fatal(err)
	}
	m := p.Message
	mark := m.Has("X-Content-Filtered-By")
	for _, name := range []string{"From", "MIME-Version", "X-Content-Filtered-By", "X-BeenThere", "Precedence", "List-Id", "Received", "Date", "Message-ID"} {
		m.Del(name)
	}
	out := string(message.LF(m.Bytes()))
	if mark != (out != entity) {
		t.Errorf("X-Content-Filtered-By: %v, of\n%s", mark, out)
	}
	return out
}

func TestContentFilter(t *testing.T) {
	mixed := multi("mixed", "b", textPart, gifPart, exePart)
	alternative := multi("alternative", "a", textPart, htmlPart)
	plainHTML := "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe there <https://x.example/>\n"
	noCollapse := []string{"collapse_alternatives", "no"}
	for _, tc := range []struct {
		name, in, want string
		settings       []string
	}{
		{"nothing to do", mixed, mixed, nil},
		{"types", mixed, multi("mixed", "b", textPart, exePart), []string{"filter_types", "image"}},
		{"a whole type", mixed, multi("mixed", "b", textPart, exePart), []string{"filter_types", "audio/basic IMAGE/GIF"}},
		{"extensions", mixed, multi("mixed", "b", textPart, gifPart), []string{"filter_extensions", "bat exe"}},
		{"the first part", multi("mixed", "b", gifPart, textPart, exePart), multi("mixed", "b", textPart, exePart), []string{"filter_types", "image"}},
		{"the first two", multi("mixed", "b", gifPart, gifPart, textPart, exePart), multi("mixed", "b", textPart, exePart), []string{"filter_types", "image"}},
		{"one is left", mixed, strings.TrimSuffix(textPart, "\n"), []string{"pass_types", "multipart text/plain"}},
		{"pass extensions", mixed, multi("mixed", "b", textPart, gifPart), []string{"pass_extensions", "gif"}},
		{"multipart must pass", mixed, "discard: the content type multipart/mixed is not among those that are allowed", []string{"pass_types", "text/plain"}},
		{"refused whole", gifPart, "reject: the content type image/gif is not allowed", []string{"filter_types", "image", "filter_action", "reject"}},
		{"nothing is left", multi("mixed", "b", gifPart, exePart), "forward: after content filtering, the message was empty", []string{"filter_types", "image application", "filter_action", "forward"}},
		{"alternatives", alternative, strings.TrimSuffix(textPart, "\n"), nil},
		{"alternatives stay", alternative, alternative, noCollapse},
		{"alternatives inside", multi("mixed", "b", alternative, gifPart), multi("mixed", "b", textPart, gifPart), nil},
		{"the first is empty", multi("alternative", "a", "Content-Type: text/plain\n\n\n", htmlPart), strings.TrimSuffix(htmlPart, "\n"), nil},
		{"HTML", htmlPart, plainHTML, []string{"convert_html_to_plaintext", "yes"}},
		{"HTML inside", multi("mixed", "b", htmlPart, gifPart), multi("mixed", "b", plainHTML+"\n", gifPart), []string{"convert_html_to_plaintext", "yes"}},
		{"forwarded", multi("mixed", "c", textPart, forward(mixed)), multi("mixed", "c", textPart, forward(multi("mixed", "b", textPart, exePart))), []string{"filter_types", "image"}},
		{"nothing is left of the forwarded", multi("mixed", "b", textPart, gifPart, forward(gifPart)), strings.TrimSuffix(textPart, "\n"), []string{"filter_types", "image"}},
		{"signed", multi("signed", "s", mixed, sigPart), multi("signed", "s", mixed, sigPart), nil},
		{"signed alternatives", multi("signed", "s", alternative, sigPart), multi("signed", "s", alternative, sigPart), []string{"convert_html_to_plaintext", "yes"}},
		{"signed, changed", multi("signed", "s", mixed, sigPart), multi("mixed", "b", textPart, exePart), []string{"filter_types", "image"}},
		{"too deep", deep(30), "discard: its parts are too many, or too deep, to be looked at", nil},
		{"forwarded too often", deepForward(20), "discard: after content filtering, the message was empty", nil},
		{"report", mixed, multi("mixed", "b", textPart, exePart, reportPart), []string{"filter_types", "image", "filter_report", "yes"}},
		{"report in the text", multi("mixed", "b", textPart, gifPart), strings.TrimSuffix(textPart, "\n") + "\n" + reportText, []string{"filter_types", "image", "filter_report", "yes"}},
		{"no parts", "Content-Type: multipart/mixed; boundary=x\n\nhello\n", "Content-Type: multipart/mixed; boundary=x\n\nhello\n", nil},
	} {
		got := filtered(t, tc.in, tc.settings...)
		if tc.name == "signed, changed" { // the end of the last part goes with the boundary around it
			tc.want = strings.TrimSuffix(tc.want, "\n")
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s:\n%s", tc.name, d)
		}
	}
}

func deep(n int) string {
	out := textPart
	for i := range n {
		out = multi("mixed", "b"+strings.Repeat("x", i), out)
	}
	return out
}

func deepForward(n int) string {
	out := textPart
	for range n {
		out = forward(out)
	}
	return out
}

func TestContentFilterIsOff(t *testing.T) {
	p := liststest.Post(liststest.List(liststest.Members(), "filter_types", "text", "convert_html_to_plaintext", "yes"), "anne@example.org", head+htmlPart)
	run(t, p)
	if p.Message.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s", p.Message.Bytes())
	}
}
