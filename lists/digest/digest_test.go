package digest

import (
	"bytes"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

var update = flag.Bool("update", false, "write the golden files")

// issue is a digest of posts; LF in them becomes CRLF.
func issue(posts ...string) *Issue {
	l := liststest.List(liststest.Members())
	i := &Issue{
		List: l, Title: "Ant", Volume: 3, Number: 14, Date: liststest.Day(), MaxPart: 1000,
		Masthead: "Ant, a list about ants\n", Footer: "-- \nAnt mailing list\n", Language: "en",
	}
	for k, p := range posts {
		i.Posts = append(i.Posts, Post{uint64(k + 1), []byte(strings.ReplaceAll(p, "\n", "\r\n"))})
	}
	return i
}

const hyphens = "------------------------------"

// samples are what people send.
func samples() []string {
	return []string{
		"Received: by x\nX-Spam: no\nKeywords: ants,\n leaf cutters\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from the\n nest\nMessage-ID: <1@example.org>\n" +
			"Cc: bart@example.org\nTo: ant@lists.example.com\nFrom: Anne <anne@example.org>\nDate: Mon, 1 Jan 2024 09:00:00 +0000\n\n\n \nhello\n" + hyphens + "\nand so on\n\n\n",
		"From: =?iso-8859-1?q?J=FCrgen?= <j@example.org>\nSubject: {{.Secret}} ${x} %s\nDate: Mon, 1 Jan 2024 09:01:00 +0000\nMIME-Version: 1.0\n" +
			"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\nSch\xf6ne Gr\xfc\xdfe {{template \"x\"}}\n",
		"From: k@example.org\nSubject: 8 bit\nDate: Mon, 1 Jan 2024 09:02:00 +0000\nContent-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte("\xf0\xd2\xc9\xd7\xc5\xd4\n")) + "\n",
		"From: m@example.org\nSubject: no such charset\nContent-Type: text/plain; charset=x-nosuch\n\nna\xefve \x93quoted\x94\n",
		"From: s@example.org\nSubject: signed\nDate: Mon, 1 Jan 2024 09:03:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/signed; micalg=pgp-sha256;\n" +
			" protocol=\"application/pgp-signature\"; boundary=\"s\"\n\n--s\nContent-Type: text/plain\n\n" + strings.Repeat("signed text  \n", 200) +
			"\n--s\nContent-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\n\n--s--\n",
		"From: p@example.org\nSubject: picture\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"m\"\n\n--m\nContent-Type: multipart/alternative; boundary=a\n\n" +
			"--a\nContent-Type: text/html\n\n<p>see <b>this</b></p>\n--a\nContent-Type: text/plain\n\nsee this\n--a--\n" +
			"--m\nContent-Type: image/png; name=\"../../ant.png\"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment;\n filename=\"=?utf-8?q?=C3=A4.png?=\"\n\n" +
			strings.Repeat("QUJDRA==\n", 400) + "--m\nContent-Type: text/html\n\n<style>x</style>only &lt;html&gt;<br>two\n--m--\n",
	}
}

func TestGolden(t *testing.T) {
	for name, m := range map[string]*message.Message{"plain.txt": issue(samples()...).Plain(), "mime.txt": issue(samples()...).MIME()} {
		file := filepath.Join("testdata", name)
		got := bytes.ReplaceAll(m.Wire(), []byte("\r\n"), []byte("\n"))
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-update writes it):\n%s", name, diff)
		}
	}
}

func TestPlain(t *testing.T) {
	i := issue(samples()...)
	b, err := readPlain(i.Plain())
	if err != nil {
		t.Fatal(err)
	}
	if len(b.messages) != len(i.Posts)+1 {
		t.Fatalf("%d messages", len(b.messages))
	}
	first := enclosed{
		header: [][2]string{
			{"Date", " Mon, 1 Jan 2024 09:00:00 +0000"}, {"From", " Anne <anne@example.org>"}, {"To", " ant@lists.example.com"}, {"Cc", " bart@example.org"},
			{"Subject", " Grüße from the nest"}, {"Message-ID", " <1@example.org>"}, {"Keywords", " ants,\n leaf cutters"},
		},
		body: []string{"hello", " " + hyphens[1:], "and so on"},
	}
	if diff := cmp.Diff(first, b.messages[0], cmp.AllowUnexported(enclosed{})); diff != "" {
		t.Error(diff)
	}
	for k, want := range [][]string{
		1: {`Schöne Grüße {{template "x"}}`},
		2: {"Привет"},
		3: {"naïve “quoted”"},
		5: {"see this", "", "[image/png ä.png, 3 KiB: not in the digest]", "", "only <html>", "two"},
		6: {"-- ", "Ant mailing list"},
	} {
		if diff := cmp.Diff(want, b.messages[k].body); want != nil && diff != "" {
			t.Errorf("message %d: %s", k+1, diff)
		}
	}
	signed := b.messages[4].body
	if n := len(signed); signed[0] != "signed text  " || signed[n-1] != "[application/pgp-signature signature.asc, 1 KiB: not in the digest]" || signed[n-3] != "[2 KiB more: not in the digest]" {
		t.Errorf("%q", signed)
	}
	if got := b.messages[6].header; len(got) != 1 || got[0][1] != " Digest Footer" {
		t.Errorf("%q", got)
	}
	if b.trailer[0] != "End of Ant Digest, Vol 3, Issue 14" || b.preamble[0] != "Ant, a list about ants" {
		t.Errorf("%q, %q", b.preamble, b.trailer)
	}
	if topics := strings.Join(b.preamble, "\n"); !strings.Contains(topics, "   1. Grüße from the nest (Anne)\n   2. {{.Secret}} ${x} %s (Jürgen)\n") {
		t.Errorf("%s", topics)
	}
}

// Encoded-words are decoded, but add no line and no address.
func TestPlainHeaders(t *testing.T) {
	for in, want := range map[string]string{
		"Subject: [A] =?utf-8?q?na=C3=AFve?=":              "Subject: [A] naïve",
		"Subject: =?utf-8?q?x=0A=0A" + hyphens + "=0Ay?=":  "Subject: x " + hyphens + " y",
		"Subject: =?x-nosuch?q?x?=":                        "Subject: =?x-nosuch?q?x?=",
		"From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>":    "From: Jürgen <j@example.org>",
		"From: =?utf-8?q?a=40b=2E=63=2C?= <j@example.org>": "From: =?utf-8?q?a=40b=2E=63=2C?= <j@example.org>",
	} {
		if got := fields(message.Parse([]byte(in + "\r\n\r\n"))); got != want+"\n" {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestMIME(t *testing.T) {
	i := issue(samples()...)
	texts, posts := readMIME(t, i.MIME().Wire())
	if len(posts) != len(i.Posts) || len(texts) != 2 || !strings.Contains(texts[0], "1. Grüße from the nest (Anne)") || texts[1] != "-- \r\nAnt mailing list\r\n" {
		t.Fatalf("%d posts, texts %q", len(posts), texts)
	}
	for k, p := range posts {
		was, is := message.Parse(i.Posts[k].Raw), message.Parse([]byte(p))
		if k != 5 && !bytes.Equal(bytes.TrimRight(was.Body(), "\r\n"), bytes.TrimRight(is.Body(), "\r\n")) {
			t.Errorf("post %d: body\n%q\nwas\n%q", k+1, is.Body(), was.Body())
		}
		if is.Has("Received") || is.Has("X-Spam") || is.Get("Subject") != was.Get("Subject") || is.Get("Content-Type") != was.Get("Content-Type") {
			t.Errorf("post %d: header %s", k+1, p)
		}
	}
	root, err := message.Parse([]byte(posts[5])).Structure()
	if err != nil || len(root.Parts) != 3 || len(root.Parts[0].Parts) != 2 {
		t.Fatalf("%+v, %v", root, err)
	}
	if text, _ := root.Parts[1].Text(message.Parse([]byte(posts[5])).Body()); text != "[image/png ä.png, 3 KiB: not in the digest]" {
		t.Errorf("%q\n%s", text, posts[5])
	}
}

// Signed content is the same octets in a MIME digest, whatever its size.
func TestSignedStaysIntact(t *testing.T) {
	_, posts := readMIME(t, issue(samples()[4]).MIME().Wire())
	want := strings.ReplaceAll(samples()[4][strings.Index(samples()[4], "--s\n"):], "\n", "\r\n")
	if !strings.Contains(posts[0], strings.TrimRight(want, "\r\n")) {
		t.Errorf("%q", posts[0])
	}
}

func TestLimits(t *testing.T) {
	text := "From: a@b.org\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\nContent-MD5: x\n\n" + strings.Repeat("größer\n", 400)
	zip := "From: a@b.org\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\n" + strings.Repeat("QUJDRA==\n", 400)
	for _, tc := range []struct {
		name, raw string
		max       int
		want      string // end of the text
	}{
		{"text", text, 1000, "größer\n\n[3 KiB more: not in the digest]\n"},
		{"text below", text, 4000, "größer\n"},
		{"no limit", text, 0, "größer\n"},
		{"zip", zip, 1000, "[application/zip, 3 KiB: not in the digest]\n"},
	} {
		i := issue(tc.raw)
		i.MaxPart = tc.max
		_, posts := readMIME(t, i.MIME().Wire())
		m := message.Parse([]byte(posts[0]))
		root, err := m.Structure()
		got, ok := root.Text(m.Body())
		if err != nil || !ok || !strings.HasSuffix(strings.ReplaceAll(got, "\r\n", "\n"), tc.want) || m.Has("Content-MD5") != (tc.max != 1000) {
			t.Errorf("%s: %.100q, %v %v\n%.300s", tc.name, got, ok, err, posts[0])
		}
	}
}

func TestLostPost(t *testing.T) {
	i := issue(samples()[0], "x")
	i.Posts[1].Raw = nil
	b, err := readPlain(i.Plain())
	if err != nil || b.messages[1].body[0] != "[Post 2 was lost before the digest was made.]" {
		t.Errorf("%+v, %v", b, err)
	}
	_, posts := readMIME(t, i.MIME().Wire())
	if len(posts) != 2 || !strings.Contains(posts[1], "[Post 2 was lost") {
		t.Errorf("%q", posts)
	}
}

func TestLanguages(t *testing.T) {
	for lang, w := range table {
		i := issue(samples()...)
		i.Language = lang
		b, err := readPlain(i.Plain())
		if err != nil || !strings.Contains(strings.Join(b.preamble, "\n"), w.topics) {
			t.Errorf("%s: %v", lang, err)
		}
		if texts, posts := readMIME(t, i.MIME().Wire()); len(posts) != len(i.Posts) || !strings.Contains(texts[0], w.topics) {
			t.Errorf("%s: %q", lang, texts)
		}
		for _, s := range []string{w.left, w.cut, w.lost, w.torn, w.footer} {
			if s == "" {
				t.Errorf("%s: a word is missing: %+v", lang, w)
			}
		}
	}
}

func TestNext(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, time.UTC) }
	for _, tc := range []struct {
		volume, number int
		last, now      time.Time
		frequency      string
		v, n           int
	}{
		{0, 0, time.Time{}, day(2024, 1, 1), "monthly", 1, 1},
		{5, 7, time.Time{}, day(2024, 1, 1), "monthly", 5, 8}, // numbers set by hand
		{1, 1, day(2024, 1, 1), day(2024, 1, 31), "monthly", 1, 2},
		{1, 2, day(2024, 1, 31), day(2024, 2, 1), "monthly", 2, 1},
		{1, 2, day(2024, 1, 31), day(2025, 1, 31), "monthly", 2, 1},
		{1, 2, day(2024, 1, 31), day(2024, 3, 31), "quarterly", 1, 3},
		{1, 2, day(2024, 3, 31), day(2024, 4, 1), "quarterly", 2, 1},
		{1, 2, day(2024, 1, 1), day(2024, 12, 31), "yearly", 1, 3},
		{1, 2, day(2024, 12, 31), day(2025, 1, 1), "yearly", 2, 1},
		{1, 2, day(2024, 12, 30), day(2025, 1, 5), "weekly", 1, 3},
		{1, 2, day(2024, 12, 29), day(2024, 12, 30), "weekly", 2, 1},
		{1, 2, day(2024, 1, 1), day(2024, 1, 1).Add(11 * time.Hour), "daily", 1, 3},
		{1, 2, day(2024, 1, 1), day(2024, 1, 1).Add(12 * time.Hour), "daily", 2, 1},
	} {
		if v, n := Next(tc.volume, tc.number, tc.last, tc.now, tc.frequency); v != tc.v || n != tc.n {
			t.Errorf("%s %s: %d.%d, want %d.%d", tc.frequency, tc.now, v, n, tc.v, tc.n)
		}
	}
}

func TestDue(t *testing.T) {
	at := func(d, h, m int) time.Time { return time.Date(2024, 1, d, h, m, 0, 0, time.UTC) }
	for _, tc := range []struct {
		every, at string
		first     time.Time
		want      time.Time
	}{
		{"1d", "12:00", at(1, 11, 59), at(1, 12, 0)},
		{"1d", "12:00", at(1, 12, 0), at(2, 12, 0)},
		{"1d", "07:30", at(1, 23, 0), at(2, 7, 30)},
		{"1d", "00:00", at(1, 0, 1), at(2, 0, 0)},
		{"12h", "06:00", at(1, 7, 0), at(1, 18, 0)},
		{"7d", "12:00", at(2, 7, 0), at(8, 12, 0)}, // 1 and 8 January 2024 are Mondays
		{"7d", "12:00", at(1, 7, 0), at(1, 12, 0)},
	} {
		s := liststest.List(nil, "digest_send_every", tc.every, "digest_send_at", tc.at).Settings
		if got := Due(s, tc.first); !got.Equal(tc.want) {
			t.Errorf("%s at %s from %s: %s, want %s", tc.every, tc.at, tc.first, got, tc.want)
		}
	}
	if got := Due(liststest.List(nil, "digest_send_periodic", "no").Settings, at(1, 0, 0)); !got.IsZero() {
		t.Errorf("%s", got)
	}
}

func TestFills(t *testing.T) {
	for _, tc := range []struct {
		threshold     string
		before, after int64
		want          bool
	}{
		{"30", 0, 30<<10 - 1, false}, {"30", 0, 30 << 10, true}, {"30", 30 << 10, 31 << 10, false}, {"30", 31 << 10, 60 << 10, true},
		{"30", 0, 1 << 20, true}, {"0", 0, 1 << 20, false}, {"0", 1 << 20, maxSize, true}, {"999999", 1 << 20, maxSize, true},
	} {
		if got := Fills(liststest.List(nil, "digest_size_threshold", tc.threshold).Settings, tc.before, tc.after); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

// FuzzDigest: whatever the posts are, both digests can be read back, with as many
// messages as went in.
func FuzzDigest(f *testing.F) {
	for _, s := range samples() {
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")), "Ant", "footer")
	}
	for _, s := range []string{"", "\r\n", "From:\r\n\t\r\n x\r\n\r\n", "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n--b\r\n\r\nx",
		"Content-Type: multipart/alternative; boundary=b\r\n\r\n--b--", "Subject: \xff\r\n " + hyphens + "\r\n\r\n\r\n" + hyphens + "\r\n\r\n" + strings.Repeat("-", 70)} {
		f.Add([]byte(s), "\xff\n"+hyphens, hyphens+"\n\n"+hyphens)
	}
	f.Fuzz(func(t *testing.T, raw []byte, title, footer string) {
		i := issue(samples()[0])
		// What is collected has been made fit for the wire, with a sender and a date.
		m := message.Parse(raw)
		m.Set("From", "a@b.org")
		i.Posts = append(i.Posts, Post{2, m.Wire()}, Post{3, nil})
		i.Title, i.Footer, i.Masthead, i.MaxPart = title, footer, footer, 20
		want := 3
		if body(footer) != "" {
			want++
		}
		p := i.Plain()
		b, err := readPlain(p)
		if err != nil || len(b.messages) != want {
			t.Fatalf("%d messages, want %d, %v:\n%q", len(b.messages), want, err, p.Bytes())
		}
		d := i.MIME().Wire()
		if bytes.ContainsAny(bytes.ReplaceAll(d, []byte("\r\n"), nil), "\r\n") {
			t.Error("bare CR or LF")
		}
		root, err := message.Parse(d).Structure()
		if err != nil || len(root.Parts) < 2 || len(root.Parts[1].Parts) != 3 {
			t.Fatalf("%v:\n%q", err, d)
		}
	})
}
