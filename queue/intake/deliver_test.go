package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

func environ(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		s, ok := vars[name]
		return s, ok
	}
}

func ptr(s string) *string { return &s }

const small = "Subject: x\n\nbody\n"

// TestDeliver has for each way of saying who and for whom what is stored, as
// "queue target sender".
func TestDeliver(t *testing.T) {
	long := "longer-than-15-octets@lists.example.com"
	for name, test := range map[string]struct {
		domain string
		args   DeliverArgs
		text   string
		status int
		want   []string
	}{
		"address":          {args: DeliverArgs{Sender: ptr("anne@example.org"), Words: []string{"ant@lists.example.com"}}, want: []string{"in ant@lists.example.com anne@example.org"}},
		"any case, quoted": {args: DeliverArgs{Words: []string{`<"ANT-Owner"@LISTS.example.com>`}}, want: []string{"in ant-owner@lists.example.com "}},
		"two addresses":    {args: DeliverArgs{Words: []string{"ant@lists.example.com", "bee-bounces@lists.example.com"}}, want: []string{"in ant@lists.example.com ", "bounces bee-bounces@lists.example.com "}},
		"same twice":       {args: DeliverArgs{Words: []string{"ant@lists.example.com", "Ant@lists.example.com"}}, want: []string{"in ant@lists.example.com "}},
		"unknown":          {args: DeliverArgs{Words: []string{"nosuch@lists.example.com"}}, status: 67},
		"all unknown":      {args: DeliverArgs{Words: []string{"nosuch@lists.example.com", "x@example.com"}}, status: 67},
		"one unknown":      {args: DeliverArgs{Words: []string{"ant@lists.example.com", "nosuch@lists.example.com"}}, status: 75},
		"no address":       {args: DeliverArgs{Words: []string{"ant"}}, status: 75},
		"nobody":           {args: DeliverArgs{}, status: 75},
		"unexpanded":       {args: DeliverArgs{Sender: ptr("${sender} x@y"), Words: []string{"ant@lists.example.com"}}, status: 75},

		"env original": {args: DeliverArgs{Env: environ(map[string]string{"ORIGINAL_RECIPIENT": "ant-join@lists.example.com", "RECIPIENT": "bee@lists.example.com", "SENDER": "anne@example.org"})}, want: []string{"command ant-join@lists.example.com anne@example.org"}},
		"env alias":    {args: DeliverArgs{Env: environ(map[string]string{"ORIGINAL_RECIPIENT": "info@example.com", "RECIPIENT": "bee@lists.example.com"})}, want: []string{"in bee@lists.example.com "}},
		"env unknown":  {args: DeliverArgs{Env: environ(map[string]string{"RECIPIENT": "nosuch@lists.example.com"})}, status: 67},

		"-f wins":        {args: DeliverArgs{Sender: ptr(""), Words: []string{"ant@lists.example.com"}, Env: environ(map[string]string{"SENDER": "anne@example.org"})}, want: []string{"in ant@lists.example.com "}},
		"env wins":       {args: DeliverArgs{Words: []string{"ant@lists.example.com"}, Env: environ(map[string]string{"SENDER": "MAILER-DAEMON"})}, text: "From bart@example.org Mon\n" + small, want: []string{"in ant@lists.example.com "}},
		"mbox line":      {args: DeliverArgs{Words: []string{"ant@lists.example.com"}}, text: "From bart@example.org Mon Jan  1 10:00:00 2024\n" + small, want: []string{"in ant@lists.example.com bart@example.org"}},
		"return path":    {args: DeliverArgs{Words: []string{"ant@lists.example.com"}}, text: "Return-path: <cris@example.com>\n" + small, want: []string{"in ant@lists.example.com cris@example.com"}},
		"both":           {args: DeliverArgs{Words: []string{"ant@lists.example.com"}}, text: "From MAILER-DAEMON Mon\nReturn-Path: <cris@example.com>\n" + small, want: []string{"in ant@lists.example.com cris@example.com"}},
		"null mbox line": {args: DeliverArgs{Words: []string{"ant@lists.example.com"}}, text: "From MAILER-DAEMON Mon\n" + small, want: []string{"in ant@lists.example.com "}},
		"local sender":   {args: DeliverArgs{Sender: ptr("root"), Words: []string{"ant@lists.example.com"}}, want: []string{"in ant@lists.example.com root@mx.example.com"}},
		"quoted sender":  {args: DeliverArgs{Sender: ptr(`<"a b"@example.org>`), Words: []string{"ant@lists.example.com"}}, want: []string{`in ant@lists.example.com "a b"@example.org`}},
		"odd sender":     {args: DeliverArgs{Sender: ptr(`a..b@example.org`), Words: []string{"ant@lists.example.com"}}, want: []string{`in ant@lists.example.com "a..b"@example.org`}},

		"alias post":      {args: DeliverArgs{Words: []string{"post", "ant"}}, want: []string{"in ant@lists.example.com "}},
		"alias address":   {args: DeliverArgs{Words: []string{"bounces", "Ant@lists.example.com"}}, want: []string{"bounces ant-bounces@lists.example.com "}},
		"alias domain":    {domain: "lists.example.com", args: DeliverArgs{Words: []string{"request", "ant"}}, want: []string{"command ant-request@lists.example.com "}},
		"alias unknown":   {domain: "lists.example.com", args: DeliverArgs{Words: []string{"request", "nosuch"}}, status: 67},
		"alias no domain": {args: DeliverArgs{Words: []string{"request", "nosuch"}}, status: 75},
		"alias two lists": {args: DeliverArgs{Words: []string{"post", "bee", "ant"}}, status: 75},
		"alias no list":   {args: DeliverArgs{Words: []string{"post"}}, status: 75},
		"alias not one":   {domain: "lists.example.com", args: DeliverArgs{Words: []string{"post", "ant-owner"}}, status: 75},
		"alias of site":   {domain: "lists.example.com", args: DeliverArgs{Words: []string{"post", "postmaster"}}, status: 75},
		"alias token": {args: DeliverArgs{Words: []string{"confirm", "ant"}, Env: environ(map[string]string{"RECIPIENT": "ant-confirm+Tok@mx.example.com"})},
			want: []string{"command ant-confirm+Tok@lists.example.com "}},
		"alias extension": {args: DeliverArgs{Words: []string{"bounces", long}, Env: environ(map[string]string{"EXTENSION": "bart=example.org"})},
			want: []string{"bounces longer-than-15-octets-bounces+bart=example.org@lists.example.com "}},
		"alias bad extension": {args: DeliverArgs{Words: []string{"confirm", "ant"}, Env: environ(map[string]string{"EXTENSION": "a b\nc"})},
			want: []string{"command ant-confirm@lists.example.com "}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShare()
			in := newIntake(t, s, Limits{})
			in.Domain = test.domain
			if test.text == "" {
				test.text = small
			}
			err := in.Deliver(context.Background(), test.args, strings.NewReader(test.text))
			status, line := ExitStatus(err)
			if status != test.status || (status == 0) != (line == "") {
				t.Errorf("exit %d %q, want %d", status, line, test.status)
			}
			var got []string
			for _, e := range s.take() {
				got = append(got, fmt.Sprintf("%s %s %s", e.Queue, e.Target.Address(), e.Sender))
				if e.Source != "pipe" || e.Trace == "" {
					t.Errorf("source %q, trace %q", e.Source, e.Trace)
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestEveryOldWord(t *testing.T) {
	want := map[string]string{
		"post": "in ", "admin": "bounces admin", "bounces": "bounces bounces", "confirm": "command confirm", "join": "command join",
		"leave": "command leave", "owner": "in owner", "request": "command request", "subscribe": "command subscribe", "unsubscribe": "command unsubscribe",
	}
	got := map[string]string{}
	for word := range words {
		s := newShare()
		if err := newIntake(t, s, Limits{}).Deliver(context.Background(), DeliverArgs{Words: []string{word, "ant"}}, strings.NewReader(small)); err != nil {
			t.Fatal(err)
		}
		e := s.take()[0]
		got[word] = fmt.Sprintf("%s %s", e.Queue, e.Target.Sub)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestTwoListsOfOneName: a bare name must be one list's only.
func TestTwoListsOfOneName(t *testing.T) {
	s := newShare()
	s.lists = append(s.lists, "ant@other.example.com")
	err := newIntake(t, s, Limits{}).Deliver(context.Background(), DeliverArgs{Words: []string{"post", "ant"}}, strings.NewReader(small))
	if status, line := ExitStatus(err); status != ExitTryLate || !strings.HasPrefix(line, "4.3.5 ") {
		t.Errorf("exit %d %q", status, line)
	}
}

// TestPipeOctets has what becomes of local line ends.
func TestPipeOctets(t *testing.T) {
	big := strings.Repeat("x", 30_000)
	for in, want := range map[string]string{
		"a\nb\n":                 "a\r\nb\r\n",
		"a\r\nb\n":               "a\r\nb\r\n",
		"a\r\r\nb\rc\n":          "a\r\r\nb\rc\r\n",
		"\n.\n..\n":              "\r\n.\r\n..\r\n",
		"\x00\xff\n":             "\x00\xff\r\n",
		"From x\n":               "",
		"From x y\nFrom a b\n":   "From a b\r\n",
		">From x y\na\n":         ">From x y\r\na\r\n",
		"From: x\n":              "From: x\r\n",
		"From x y\r\nA: b\r\n":   "A: b\r\n",
		big + "\n":               big + "\r\n",
		big + "\r\n":             big + "\r\n",
		big[:16383] + "\r\nab\n": big[:16383] + "\r\nab\r\n",
		"From " + big + "\na\n":  "From " + big + "\r\na\r\n",
	} {
		s := newShare()
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			err := newIntake(t, s, Limits{}).Deliver(context.Background(), DeliverArgs{Words: []string{"ant@lists.example.com"}}, r)
			if want == "" {
				if status, _ := ExitStatus(err); status != ExitTryLate {
					t.Errorf("%.40q: %v", in, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%.40q: %v", in, err)
			}
			if got := string(s.take()[0].Raw); got != want {
				t.Errorf("%.40q stored as %.40q, want %.40q", in, got, want)
			}
		}
	}
}

// TestExitStatus: every error has one of four statuses, and unknown ones are 75.
func TestExitStatus(t *testing.T) {
	args := DeliverArgs{Words: []string{"ant@lists.example.com"}}
	read := func(r io.Reader) func(*Intake, *share) error {
		return func(in *Intake, _ *share) error { return in.Deliver(context.Background(), args, r) }
	}
	broken := errors.New("read |0: broken")
	for name, test := range map[string]struct {
		do     func(*Intake, *share) error
		status int
		line   string
	}{
		"stored":     {read(strings.NewReader(small)), 0, ""},
		"too big":    {read(strings.NewReader(strings.Repeat("0123456789\n", 1000))), 65, "5.3.4 "},
		"long line":  {read(strings.NewReader(strings.Repeat("0123456789", 1000) + "\n")), 65, "5.6.0 "},
		"empty":      {read(strings.NewReader("")), 75, "4.4.2 "},
		"cut":        {read(strings.NewReader("Subject: x\n\nbo")), 75, "4.4.2 "},
		"read error": {read(iotest.ErrReader(broken)), 75, "4.3.0 "},
		"late error": {read(io.MultiReader(strings.NewReader(strings.Repeat(small, 100)), iotest.ErrReader(syscall.EIO))), 75, "4.3.0 "},
		"panic":      {read(nil), 75, "4.3.0 "},
		"no list": {func(in *Intake, s *share) error { s.lists = nil; return read(strings.NewReader(small))(in, s) },
			67, "5.1.1 no such list here"},
		"bad list, too big": {func(in *Intake, s *share) error {
			s.lists = nil
			return read(strings.NewReader(strings.Repeat("0123456789\n", 1000)))(in, s)
		}, 67, "5.1.1 "},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShare()
			in := newIntake(t, s, Limits{Message: 2000, Line: 1500})
			status, line := ExitStatus(test.do(in, s))
			if status != test.status || !strings.HasPrefix(line, test.line) {
				t.Errorf("exit %d %q, want %d %q", status, line, test.status, test.line)
			}
		})
	}
	for name, fault := range faults {
		for _, call := range []string{"put", "resolve"} {
			s := newShare()
			where, want := s.put, ExitTryLate
			if call == "resolve" {
				where = s.resolve
			}
			switch {
			case name == "ok":
				want = ExitStored
			case name == "nolist" && call == "resolve":
				want = ExitNoList
			}
			s.fail(where, "ant@lists.example.com", fault)
			status, line := ExitStatus(newIntake(t, s, Limits{}).Deliver(context.Background(), args, strings.NewReader(small)))
			if status != want || strings.ContainsAny(line, "\r\n") || want == ExitTryLate && !strings.HasPrefix(line, "4.3.") {
				t.Errorf("%s %s: exit %d %q, want %d", call, name, status, line, want)
			}
		}
	}
}

func FuzzFromLine(f *testing.F) {
	for _, s := range []string{"From a@b Mon Jan  1 10:00:00 2024", `From "a b"@c Mon`, "From  x", "From ", `From "`, `From "\`, "From: a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		sender, ok := fromLine(line)
		if ok != strings.HasPrefix(line, "From ") || !strings.Contains(line, sender) {
			t.Fatalf("%q gives %q, %v", line, sender, ok)
		}
	})
}

// FuzzMailbox: what is taken for an address is one, and stays the same when it is
// read again.
func FuzzMailbox(f *testing.F) {
	for _, s := range []string{"a@b.c", `"a b"@c.d`, `"a\"b"@c`, "<@x:a@b>", "a..b@c", `"`, `"@"@x`, "a@b@c", "\xff@x", "дора@пример.рф", `"\`, `"a@b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, read := range []func(string) (mailaddr.Address, error){mailbox, unquoted} {
			a, err := read(s)
			if err != nil || a.Null() {
				continue
			}
			if again, err := mailaddr.Parse(string(a)); err != nil || again != a {
				t.Fatalf("%q read as %q, which is read as %q, %v", s, a, again, err)
			}
			if strings.ContainsAny(string(a), "\r\n\x00") {
				t.Fatalf("%q read as %q", s, a)
			}
		}
	})
}

// FuzzDeliver: whatever the arguments and the input, one of four statuses, and 0
// exactly if something was stored.
func FuzzDeliver(f *testing.F) {
	f.Add("anne@example.org", "post", "ant", "ant+x@lists.example.com", "From a b\n"+small)
	f.Add("<>", "ant@lists.example.com", "", "", small)
	f.Add("MAILER-DAEMON", "", "", "bee-request@lists.example.com", "Return-Path: <\n\n")
	f.Add("", "owner", `"`, "@", "\n")
	f.Fuzz(func(t *testing.T, sender, one, two, recipient, text string) {
		a := DeliverArgs{Sender: &sender, Env: environ(map[string]string{"RECIPIENT": recipient, "EXTENSION": two})}
		for _, w := range []string{one, two} {
			if w != "" {
				a.Words = append(a.Words, w)
			}
		}
		s := newShare()
		in := New(Config{Spool: s, Directory: s, Host: "mx.example.com"})
		status, line := ExitStatus(in.Deliver(context.Background(), a, strings.NewReader(text)))
		stored := s.take()
		if (status == ExitStored) != (len(stored) > 0) || strings.ContainsAny(line, "\r\n") {
			t.Fatalf("exit %d %q, %d stored", status, line, len(stored))
		}
		for _, e := range stored {
			if _, err := mailaddr.Parse(string(e.Target.Address())); err != nil && e.List != lists.Site {
				t.Fatalf("stored for %q: %v", e.Target.Address(), err)
			}
			if strings.Contains(strings.ReplaceAll(string(e.Raw), "\r\n", ""), "\n") || !strings.HasSuffix(string(e.Raw), "\n") {
				t.Fatalf("stored %q", e.Raw)
			}
		}
	})
}
