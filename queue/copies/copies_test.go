package copies_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	peer "github.com/emersion/go-msgauth/dkim"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/mailauth"
	"qrunner/lists/mailauth/arc"
	"qrunner/lists/mailauth/authres"
	"qrunner/lists/mailauth/dkim"
	"qrunner/lists/mailauth/keys"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/mailauth/txt"
	"qrunner/lists/message"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/copies"
)

const base = "https://lists.example.com/m"

// world is a site with the keys r1 (RSA) and e1 (Ed25519).
type world struct {
	t         testing.TB
	dns       txt.Map
	authority *mailauth.Authority
	secrets   *oneclick.Secrets
	list      *lists.List
}

func newWorld(t testing.TB, members []lists.Member, settings ...string) *world {
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	w := &world{t: t, dns: txt.Map{}, list: liststest.List(members, settings...), secrets: oneclick.NewSecrets(root, liststest.Day)}
	k := keys.New(root)
	for selector, alg := range map[string]string{"r1": dkim.RSA, "e1": dkim.Ed25519} {
		s, err := k.Add(t.Context(), keys.Name{Domain: "lists.example.com", Selector: selector}, alg)
		if err != nil {
			t.Fatal(err)
		}
		record, err := dkim.Record(s.Key.Public())
		if err != nil {
			t.Fatal(err)
		}
		w.dns[dkim.Name(s.Domain, s.Selector)] = []string{record}
	}
	if err := w.secrets.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.authority = mailauth.New(w.dns, k, liststest.Day)
	return w
}

// fanout is a post after the pipeline.
func (w *world) fanout(raw string) *queue.Fanout {
	w.t.Helper()
	p := liststest.Post(w.list, "anne@example.org", raw)
	p.Authority, p.Web = w.authority, base
	if err := handlers.Run(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return &queue.Fanout{List: w.list.ID, Raw: p.Message.Wire(), Copies: p.Copies, Recipients: p.Recipients}
}

func (w *world) config() copies.Config {
	return copies.Config{
		Web: base, Keys: w.authority.Copier,
		List: func(context.Context, lists.ID) (*lists.List, error) { return w.list, nil },
		Unsubscribe: func(ctx context.Context, l *lists.List) (func(lists.MemberID) string, error) {
			k, err := w.secrets.Key(ctx, l)
			return func(m lists.MemberID) string { return oneclick.URL(base, l.ID, k.Token(m, liststest.Day())) }, err
		},
	}
}

func (w *world) open(f *queue.Fanout) queue.Copier {
	w.t.Helper()
	c, err := w.config().Open(w.t.Context(), f)
	if err != nil || c == nil {
		w.t.Fatalf("%v, %v", c, err)
	}
	return c
}

// verify counts the signatures of the list that hold, for go-msgauth and for us.
func (w *world) verify(raw []byte) (theirs, ours int) {
	w.t.Helper()
	lookup := func(name string) ([]string, error) { return w.dns.LookupTXT(w.t.Context(), name) }
	found, err := peer.VerifyWithOptions(bytes.NewReader(raw), &peer.VerifyOptions{LookupTXT: lookup})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range found {
		if v.Err == nil && v.Domain == "lists.example.com" {
			theirs++
		}
	}
	for _, v := range dkim.Verify(w.t.Context(), message.Parse(raw), w.dns, liststest.Day()) {
		if v.Err == nil {
			ours++
		}
	}
	return theirs, ours
}

var people = []lists.Member{
	{Address: "anne@example.org", Role: lists.RoleMember},
	{Address: "dora@example.org", Role: lists.RoleMember, Name: "Dóra Ünal"},
	{Address: "bart@example.org", Role: lists.RoleMember, Name: "B $user_email\r\nX-Evil: 1 =?x?= <b>", Prefs: map[string]string{"preferred_language": "de"}},
}

const footer = "-- \nFor $user_name_or_address <${user_address}> in $user_language: $posting_address costs $$1, $nosuch\n"

var filled = map[string]string{
	"anne@example.org": "For anne@example.org <anne@example.org> in en: ant@lists.example.com costs $1, $nosuch\r\n",
	"dora@example.org": "For Dóra Ünal <dora@example.org> in en: ant@lists.example.com costs $1, $nosuch\r\n",
	"bart@example.org": "For B $user_email  X-Evil: 1 =?x?= <b> <bart@example.org> in de: ant@lists.example.com costs $1, $nosuch\r\n",
}

const head = "From: Anne <anne@example.org>\nTo: ant@lists.example.com\nSubject: x\nDate: Mon, 1 Jan 2024 09:58:00 +0000\nMessage-ID: <1@example.org>\nMIME-Version: 1.0\n"

var long = strings.Repeat("a line of text that $user_name has nothing to do with\n", 50)

// Whatever the post is made of, each member's copy has his own text in it, once, in the
// charset and the encoding of its part; the author's text stays; every signature holds.
func TestEachHisOwn(t *testing.T) {
	site := newWorld(t, people, "personalize", "full", "footer", footer, "dkim_selectors", "r1 e1", "arc_seal", "yes")
	for name, raw := range map[string]string{
		"no MIME":      head + "\nHello $user_name\n",
		"utf-8":        head + "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nHello $user_name ü\n",
		"quoted":       head + "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nHello $user_name =C3=BC=\n",
		"base64":       head + "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" + string(message.Base64([]byte("Hello $user_name\r\n"+long))),
		"latin":        head + "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\nHello $user_name \xfc\n",
		"flowed":       head + "Content-Type: text/plain; charset=utf-8; format=flowed\n\nHello $user_name \nflows \n",
		"long lines":   head + "\nHello $user_name " + strings.Repeat("x", 1200) + "\n",
		"mixed":        head + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHello $user_name\n--b\nContent-Type: image/png\n\nx\n--b--\n",
		"alternative":  head + "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nHello $user_name\n--b\nContent-Type: text/html\n\n<p>x\n--b--\n",
		"html":         head + "Content-Type: text/html\n\nHello $user_name\n",
		"not in latin": head + "Content-Type: text/plain; charset=iso-8859-2\n\nHello $user_name\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := *site // making RSA keys takes its time
			w.t = t
			f := w.fanout(raw)
			c := w.open(f)
			var scratch []byte
			for _, r := range f.Recipients {
				out, err := c.Copy(&scratch, r)
				if err != nil {
					t.Fatal(err)
				}
				w.check(message.Parse(bytes.Clone(out)), r)
			}
		})
	}
}

func (w *world) check(m *message.Message, r lists.Recipient) {
	w.t.Helper()
	if theirs, ours := w.verify(m.Bytes()); theirs != 2 || ours != 2 {
		w.t.Errorf("%s: %d and %d signatures hold:\n%s", r.Address, theirs, ours, m.Bytes())
	}
	if v := arc.Verify(w.t.Context(), m, w.dns); v.Status != authres.Pass {
		w.t.Errorf("%s: ARC: %+v", r.Address, v)
	}
	var text strings.Builder
	root, err := m.Structure()
	if err != nil {
		w.t.Fatal(err)
	}
	for p := range root.Leaves {
		if p.Type.Media == "text/plain" || p.Type.Media == "text/html" {
			s, ok := message.ToUTF8(p.Decode(m.Body()), p.Type.Charset())
			if !ok {
				w.t.Errorf("%s: a part is not in %s:\n%s", r.Address, p.Type.Charset(), m.Bytes())
			}
			text.WriteString(s)
		}
	}
	if got := text.String(); strings.Count(got, strings.TrimSpace(filled[string(r.Address)])) != 1 || strings.Count(got, "-- \r\n") != 1 || !strings.Contains(got, "Hello $user_name") {
		w.t.Errorf("%s reads:\n%s", r.Address, got)
	}
	to := m.Mailboxes("To")
	if len(m.All("To")) != 1 || len(to) != 1 || to[0].Address != r.Address || m.Has("X-Evil") {
		w.t.Errorf("%s: To %q", r.Address, m.All("To"))
	}
	link := m.All("List-Unsubscribe")
	if len(link) != 1 || strings.Count(link[0], "https:") != 1 || !strings.Contains(link[0], "<mailto:ant-leave@lists.example.com>") || m.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		w.t.Fatalf("%s: %q", r.Address, link)
	}
	_, token, _ := strings.Cut(link[0], "/ant@lists.example.com/")
	token, _, _ = strings.Cut(token, ">")
	if id, err := w.secrets.Check(w.t.Context(), w.list, token); err != nil || id != r.Member {
		w.t.Errorf("%s: token of %d: %v", r.Address, id, err)
	}
}

// Those who are no members get no link; a list that is gone gives nobody a name; a key
// that is gone sends nothing.
func TestOthers(t *testing.T) {
	w := newWorld(t, people, "personalize", "individual", "footer", footer, "dkim_selectors", "e1")
	f := w.fanout(head + "\nHello\n")
	if f.Copies.Full || !strings.Contains(string(f.Raw), "To: ant@lists.example.com\r\n") {
		t.Error("To is not everybody's")
	}
	var scratch []byte
	out, err := w.open(f).Copy(&scratch, lists.Recipient{Kind: lists.KindNotice, Address: "zed@example.net"})
	if err != nil || bytes.Contains(out, []byte("https:")) || !bytes.Contains(out, []byte("List-Unsubscribe: <mailto:ant-leave@lists.example.com>\r\n")) || bytes.Contains(out, []byte("One-Click")) {
		t.Errorf("%v\n%s", err, out)
	}
	if theirs, _ := w.verify(out); theirs != 1 {
		t.Errorf("%d signatures", theirs)
	}
	c := w.config()
	c.List = func(context.Context, lists.ID) (*lists.List, error) { return nil, lists.ErrNoList }
	gone, err := c.Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = gone.Copy(&scratch, f.Recipients[2]); err != nil || !bytes.Contains(out, []byte("For dora@example.org <dora@")) || bytes.Contains(out, []byte("https:")) {
		t.Errorf("%v\n%s", err, out)
	}
	f.Copies.Keys = []string{"nosuch._domainkey.lists.example.com"}
	if _, err := w.config().Open(t.Context(), f); err == nil {
		t.Error("a key that is not there")
	}
	f.Copies.Gaps[0].At = len(f.Raw)
	f.Copies.Keys = nil
	if _, err := w.config().Open(t.Context(), f); err == nil {
		t.Error("a gap outside")
	}
}

// Where copies do not differ nobody makes any.
func TestAllAlike(t *testing.T) {
	w := newWorld(t, people, "one_click_unsubscribe", "no", "footer", footer, "dkim_selectors", "e1")
	f := w.fanout(head + "\nHello\n")
	c, err := w.config().Open(t.Context(), f)
	if c != nil || err != nil || !bytes.Contains(f.Raw, []byte("For $user_name_or_address <${user_address}>")) {
		t.Errorf("%v, %v\n%s", c, err, f.Raw)
	}
	if theirs, _ := w.verify(f.Raw); theirs != 1 {
		t.Errorf("%d signatures", theirs)
	}
}

// table is a roster of many.
type table struct {
	lists.Roster
	members []lists.Member
}

func (r table) ByID(id lists.MemberID) (*lists.Member, bool) { return &r.members[id-1], true }

// processor is the CPU time of this process: what others do on the machine does not count.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPersonalise makes the copies of a post to 10,000 members. An operation is one
// copy; each is verified, outside the time that counts.
func BenchmarkPersonalise(b *testing.B) {
	for _, bb := range []struct {
		name     string
		settings []string
		signed   int
	}{
		{"one-click", []string{"personalize", "none"}, 0},
		{"footer", []string{"one_click_unsubscribe", "no", "personalize", "individual"}, 0},
		{"full", []string{"personalize", "full"}, 0},
		{"one-click+rsa2048", []string{"personalize", "none", "dkim_selectors", "r1"}, 1},
		{"one-click+ed25519", []string{"personalize", "none", "dkim_selectors", "e1"}, 1},
		{"full+rsa2048", []string{"personalize", "full", "dkim_selectors", "r1"}, 1},
		{"full+ed25519", []string{"personalize", "full", "dkim_selectors", "e1"}, 1},
	} {
		for _, size := range []int{4 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%dKiB", bb.name, size>>10), func(b *testing.B) {
				w := newWorld(b, people, append(bb.settings, "footer", footer)...)
				f := w.fanout(head + "\n" + strings.Repeat("the quick brown fox jumps over the lazy dog\n", size/44))
				r := table{w.list.Roster, make([]lists.Member, 10_000)}
				for i := range r.members {
					r.members[i] = lists.Member{ID: lists.MemberID(i + 1), Role: lists.RoleMember, Name: fmt.Sprintf("Member %d of the list", i)}
				}
				l := *w.list
				w.list, l.Roster = &l, r
				c := w.open(f)
				var scratch []byte
				var checked, octets int
				var spent time.Duration
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					n := lists.MemberID(i%10_000 + 1)
					began := processor()
					out, err := c.Copy(&scratch, lists.Recipient{Kind: lists.KindMember, Member: n, Address: "member@example.org"})
					if err != nil {
						b.Fatal(err)
					}
					spent += processor() - began
					octets += len(out)
					if bb.signed > 0 {
						b.StopTimer()
						if theirs, _ := w.verify(out); theirs != bb.signed {
							b.Fatalf("copy %d: %d signatures hold", i, theirs)
						}
						checked++
						b.StartTimer()
					}
				}
				b.SetBytes(int64(octets / max(b.N, 1)))
				b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "cpu-ns/copy")
				if bb.signed > 0 {
					b.ReportMetric(float64(checked)/float64(b.N), "verified/copy")
				}
			})
		}
	}
}
