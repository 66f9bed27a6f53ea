package spool

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"qrunner/lists"
	"qrunner/queue"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 123456000, time.UTC)

const ant = lists.ID("ant@lists.example.com")

func small(raw string) *queue.Entry {
	return &queue.Entry{
		ID: queue.NewID(noon, 1, "h1", 7), Queue: queue.In, List: ant,
		Envelope: queue.Envelope{Sender: "anne@example.org", Target: lists.Target{List: ant}, Received: noon, Source: "lmtp 192.0.2.1", Trace: "t1"},
		Raw:      []byte(raw),
	}
}

// full has every field, each with something that might break a line.
func full() *queue.Entry {
	e := small("Subject: x\r\n\r\nbody\nEND\n\nEND\n")
	e.Target = lists.Target{List: ant, Sub: lists.SubConfirm, Extra: "a\r\nSha256: forged"}
	e.Sender = `"odd local\"part"@example.org`
	e.Source = " leading blank"
	e.UTF8, e.EightBit = true, true
	e.Meta = queue.Meta{
		Recipients: []lists.Recipient{{Kind: lists.KindNotice, Address: "b@example.org"}, {Kind: lists.KindMember, Member: 12, Address: "ä b@example.org"}},
		Approved:   true, ApprovedBy: "\"quoted\"", PostID: 17,
		Cause: "panic: x\n\ngoroutine 1:\n\tmain.go:3\n", Count: 3, First: noon, Last: noon.Add(time.Hour), From: queue.In, Archiver: "command",
		Bounce: &queue.Bounce{Recipient: lists.Recipient{Kind: lists.KindMember, Member: 9, Address: "c@example.org"}, Reply: "550 5.1.1 no\x00", Phase: "rcpt"},
	}
	return e
}

func encode(t *testing.T, e *queue.Entry) []byte {
	t.Helper()
	data, err := Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEntryRoundTrip(t *testing.T) {
	all := string(func() (b []byte) {
		for i := range 256 {
			b = append(b, byte(i))
		}
		return b
	}())
	for _, e := range []*queue.Entry{small(""), small("no line end"), small("x\n"), small("\n\n"), small(all), full()} {
		got, err := Decode(encode(t, e))
		if err != nil {
			t.Errorf("%q: %v", e.Raw, err)
			continue
		}
		if d := cmp.Diff(e, got, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	}
}

func TestEntryIsReadable(t *testing.T) {
	e := small("Subject: hi\n\nhello\n")
	e.Meta.Cause = "panic: x\n\n\tmain.go:3"
	want := `qrunner entry 1
Id: 000644e3fb33a240.00000001.h1.0000000000000007
Queue: in
List: ant@lists.example.com
Target: ant@lists.example.com
Sender: <anne@example.org>
Received: 2026-12-01T12:00:00.123456Z
Source: lmtp 192.0.2.1
Trace: t1
Cause: panic: x
	
		main.go:3
Length: 19
Sha256: SUM

Subject: hi

hello

END
`
	got := string(encode(t, e))
	i := strings.Index(got, "Sha256: ") + len("Sha256: ")
	want = strings.ReplaceAll(want, "SUM", got[i:i+64])
	want = strings.ReplaceAll(want, "000644e3fb33a240.00000001.h1.0000000000000007", string(e.ID))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// No byte of an entry's file can change, go or come without Decode seeing it.
func TestEveryDamageIsSeen(t *testing.T) {
	data := encode(t, full())
	refuse := func(what string, at int, bad []byte) {
		t.Helper()
		var c *CorruptError
		if _, err := Decode(bad); !errors.As(err, &c) && !errors.Is(err, ErrNewer) {
			t.Errorf("%s at %d passes: %v", what, at, err)
		}
	}
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			refuse("flipped bit", i, bad)
		}
		refuse("cut", i, data[:i])
		refuse("lost byte", i, append(bytes.Clone(data[:i]), data[i+1:]...))
		refuse("doubled byte", i, append(bytes.Clone(data[:i+1]), data[i:]...))
	}
	refuse("more", len(data), append(bytes.Clone(data), '\n'))
}

func TestNewerFormatIsNotCorrupt(t *testing.T) {
	data := bytes.Replace(encode(t, small("x")), []byte("entry 1"), []byte("entry 12"), 1)
	_, err := Decode(data)
	var c *CorruptError
	if !errors.Is(err, ErrNewer) || errors.As(err, &c) {
		t.Errorf("Decode: %v", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(e *queue.Entry){
		"no id":          func(e *queue.Entry) { e.ID = "" },
		"no queue":       func(e *queue.Entry) { e.Queue = "" },
		"odd queue":      func(e *queue.Entry) { e.Queue = "in\nx" },
		"odd list":       func(e *queue.Entry) { e.List = "../x" },
		"odd recipient":  func(e *queue.Entry) { e.Meta.Recipients = []lists.Recipient{{Kind: "a b", Address: "x@y"}} },
		"negative count": func(e *queue.Entry) { e.Meta.Count = -1 },
		"endless time":   func(e *queue.Entry) { e.Received = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC) },
		"huge":           func(e *queue.Entry) { e.Raw = make([]byte, MaxSize) },
	} {
		e := small("x")
		change(e)
		if _, err := Encode(e); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func TestResealAfterEditing(t *testing.T) {
	data := encode(t, small("Subject: hi\n\nhello\n"))
	edited := strings.Replace(string(data), "hello", "hello, and more", 1)
	edited = strings.Replace(edited, "Queue: in\n", "", 1)
	edited = strings.Replace(edited, "Trace: t1\n", "Trace: t2\nQueue: in\n", 1) // order does not matter
	if _, err := Decode([]byte(edited)); err == nil {
		t.Fatal("an edited entry passes as it is")
	}
	sealed, err := Reseal([]byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	e, err := Decode(sealed)
	if err != nil || e.Trace != "t2" || string(e.Raw) != "Subject: hi\n\nhello, and more\n" {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := Reseal([]byte("junk")); err == nil {
		t.Error("junk can be resealed")
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range []*queue.Entry{small(""), small("Subject: x\r\n\r\ny\r\n"), full()} {
		data, err := Encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Add([]byte("qrunner entry 1\n\tx\n\n\nEND\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if sealed, err := Reseal(data); err == nil {
			data = sealed
		}
		e, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(e)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("decoded, but encodes differently: %v\n%q\n%q", err, data, again)
		}
	})
}

func FuzzFoldText(f *testing.F) {
	for _, s := range []string{"", "x", "x\ny", "\n", "\"", " x", "x\n\n\ty", "\x00", "\xff", "a\u2028b", "a\rb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if v == "" {
			return // no line is written for it
		}
		data := seal(kindEntry, []field{{"Extra", v}, {"Source", "s"}}, nil)
		fields, _, err := split(kindEntry, data)
		if err != nil || len(fields) != 4 || fields[0] != (field{"Extra", v}) || fields[1] != (field{"Source", "s"}) {
			t.Errorf("%q: %q %v", v, fields, err)
		}
	})
}
