package message

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// outline writes a structure as text: types, indented, with the leaves' content.
func outline(b *strings.Builder, p *Part, body []byte, depth int) {
	fmt.Fprintf(b, "%s%s", strings.Repeat(" ", depth), p.Type.Media)
	if len(p.Parts) == 0 {
		fmt.Fprintf(b, " %q", p.Decode(body))
	}
	b.WriteByte('\n')
	for _, c := range p.Parts {
		outline(b, c, body, depth+1)
	}
}

func TestStructure(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"plain", "Subject: x\n\nhello\n", "text/plain \"hello\\n\"\n"},
		{"mixed", "Content-Type: multipart/mixed; boundary=b\n\npre\n--b\nContent-Type: text/html\n\none\n--b\n\ntwo\n\n--b--\nepilogue\n",
			"multipart/mixed\n text/html \"one\"\n text/plain \"two\\n\"\n"},
		{"nested", "Content-Type: multipart/mixed; boundary=\"b b\"\n\n--b b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\n\r\n1\r\n--c\r\n\r\n2\r\n--c--\r\n\r\n--b b\r\n\r\n3\r\n--b b--",
			"multipart/mixed\n multipart/alternative\n  text/plain \"1\"\n  text/plain \"2\"\n text/plain \"3\"\n"},
		{"inner never closed", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\n1\n--b\n\n2\n--b--\n",
			"multipart/mixed\n multipart/mixed\n  text/plain \"1\"\n text/plain \"2\"\n"},
		{"outer never closed", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n1\n", "multipart/mixed\n text/plain \"1\\n\"\n"},
		{"boundary never comes", "Content-Type: multipart/signed; boundary=b\n\nx\n", "multipart/signed \"x\\n\"\n"},
		{"no boundary", "Content-Type: multipart/mixed\n\n--b\nx\n", "multipart/mixed \"--b\\nx\\n\"\n"},
		{"empty parts", "Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\n--b--\n", "multipart/mixed\n text/plain \"\"\n text/plain \"\"\n"},
		{"attached message", "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nSubject: x\n\ny\n--b--\n",
			"multipart/mixed\n message/rfc822 \"Subject: x\\n\\ny\"\n"},
		{"base64", "Content-Type: text/plain\nContent-Transfer-Encoding: BASE64\n\naGVs\r\nbG8=!\n", "text/plain \"hello\"\n"},
		{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\na=3Db=\r\nc=ZZ=  \nd=\n", "text/plain \"a=bc=ZZd\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := Parse([]byte(tc.raw))
			root, err := m.Structure()
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			outline(&b, root, m.Body(), 0)
			if b.String() != tc.want {
				t.Errorf("got\n%swant\n%s", b.String(), tc.want)
			}
		})
	}
}

func TestDepthBomb010(t *testing.T) {
	for _, name := range []string{"010-mime-depth-bomb.eml", "010-mime-depth-bomb.parts.eml"} {
		raw, err := os.ReadFile(filepath.Join(shared, "repro", name))
		if os.IsNotExist(err) {
			t.Skipf("no reproducer %s", name)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Parse(raw).Structure(); !errors.Is(err, ErrOpaque) {
			t.Errorf("%s: %v, want ErrOpaque", name, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(20*len(raw))+1<<20 {
			t.Errorf("%s: %d octets of memory for %d", name, used, len(raw))
		}
	}
}

func TestContentType(t *testing.T) {
	for value, want := range map[string]string{
		"text/plain; charset=utf-8":              "text/plain utf-8",
		`TEXT/Plain; charset="UTF-8"\r\n`:        "text/plain UTF-8",
		`text/html; charset=utf-8; charset=x`:    "text/html utf-8",
		`text/plain charset=utf-8`:               "text/plain ",
		`text/plain; format flowed; charset=a b`: "text/plain a b",
		`text/plain; charset="utf-8`:             "text/plain utf-8",
		"text":                                   "text/plain ",
		"":                                       "text/plain ",
		"/;=":                                    "text/plain ",
	} {
		c := Parse([]byte("Content-Type: " + value + "\r\n\r\n")).ContentType()
		if got := c.Media + " " + c.Charset(); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestCharset(t *testing.T) {
	for _, tc := range []struct {
		text, charset, want string
		ok                  bool
	}{
		{"abc", "", "abc", true}, {"caf\xe9", "us-ascii", "", false}, {"caf\xe9", "utf-8", "", false},
		{"caf\xe9", "ISO-8859-1", "café", true}, {"caf\xc3\xa9", "UTF8", "café", true},
		{"x", "x-klingon-7", "", false}, {"x", "iso-2022-kr", "", false}, {"\x1b$B$\"\x1b(B", "iso-2022-jp", "あ", true},
	} {
		got, ok := ToUTF8([]byte(tc.text), tc.charset)
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("ToUTF8(%q, %q) = %q, %v", tc.text, tc.charset, got, ok)
		}
		if ok {
			if back, ok := FromUTF8(got, tc.charset); !ok || string(back) != tc.text {
				t.Errorf("FromUTF8(%q, %q) = %q, %v", got, tc.charset, back, ok)
			}
		}
	}
}
