package message

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared is where the project's public test mail lies, if it is there.
const shared = "../../../shared"

// everyMail calls fn for each file of the corpora and the reproducers.
func everyMail(t *testing.T, fn func(t *testing.T, name string, raw []byte)) {
	t.Helper()
	n := 0
	for _, dir := range []string{"corpora", "repro"} {
		root := filepath.Join(shared, dir)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			n++
			fn(t, path, raw)
			return nil
		})
		if os.IsNotExist(err) {
			t.Skipf("no test mail in %s", root)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 100 {
		t.Fatalf("only %d files found", n)
	}
}

func TestParseThenWriteIsIdentity(t *testing.T) {
	everyMail(t, func(t *testing.T, name string, raw []byte) {
		m := Parse(raw)
		if !bytes.Equal(m.Bytes(), raw) {
			t.Errorf("%s: unedited message differs", name)
		}
		// An edit that is taken back leaves only the separator in doubt.
		c := m.Clone()
		c.Prepend("X-Test", "1")
		c.Del("X-Test")
		want := raw
		if c.sep == nil {
			want = bytes.Join([][]byte{raw[:len(raw)-len(m.body)], m.body}, []byte("\r\n"))
		}
		if got := c.Bytes(); !bytes.Equal(got, want) && !bytes.Equal(got, append(bytes.Clone(raw), "\r\n\r\n"...)) {
			t.Errorf("%s: edit and undo differs", name)
		}
		checkWire(t, name, m)
	})
}

// checkWire checks what Wire promises.
func checkWire(t *testing.T, name string, m *Message) {
	t.Helper()
	w := m.Wire()
	bare := bytes.ReplaceAll(w, []byte("\r\n"), nil)
	if bytes.ContainsAny(bare, "\r\n") {
		t.Errorf("%s: bare CR or LF on the wire", name)
	}
	header, _, ok := bytes.Cut(w, []byte("\r\n\r\n"))
	if !ok && !bytes.HasPrefix(w, []byte("\r\n")) {
		t.Errorf("%s: no empty line", name)
	}
	if bytes.HasPrefix(w, []byte("\r\n")) {
		header = nil
	}
	for line := range bytes.SplitSeq(header, []byte("\r\n")) {
		if len(line) > maxLine || bytes.IndexByte(line, 0) >= 0 {
			t.Errorf("%s: header line of %d octets or with NUL", name, len(line))
		}
	}
	// What went out reads the same: no text became header or the other way round.
	again := Parse(w)
	var names, againNames []string
	for _, f := range m.fields {
		if f.Name != "" {
			names = append(names, f.Name)
		}
	}
	for _, f := range again.fields {
		againNames = append(againNames, f.Name)
	}
	if strings.Join(names, "\n") != strings.Join(againNames, "\n") {
		t.Errorf("%s: fields\n%q\nbecame\n%q", name, names, againNames)
	}
	if !bytes.Equal(again.Wire(), w) {
		t.Errorf("%s: written twice is not written once", name)
	}
}

func TestStructureOfEveryMail(t *testing.T) {
	everyMail(t, func(t *testing.T, name string, raw []byte) {
		m := Parse(raw)
		root, err := m.Structure()
		if err != nil {
			if !strings.Contains(name, "010-mime-depth-bomb") {
				t.Logf("%s: %v", name, err)
			}
			return
		}
		for p := range root.Leaves {
			if p.Start < 0 || p.End < p.Start || p.End > len(m.body) {
				t.Errorf("%s: part [%d:%d] of %d", name, p.Start, p.End, len(m.body))
			}
			p.Text(m.body)
		}
		for _, f := range m.Fields() {
			DecodeHeader(f.Value())
			ParseAddressList(f.Value())
		}
	})
}
