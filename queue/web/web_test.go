package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/locking/hosts"
	"qrunner/locking/lockfile"
	share "qrunner/locking/site"
	"qrunner/queue"
)

const ant lists.ID = "ant@lists.example.com"

const (
	form      = "application/x-www-form-urlencoded"
	mixed     = "multipart/form-data; boundary=b"
	click8058 = "List-Unsubscribe=One-Click"
)

// world is the pages of a site with the list ant, whose member 1 is anne.
type world struct {
	t     *testing.T
	h     http.Handler
	store *store.Store
	token string
	put   []*queue.Entry
	err   error // of reading and putting
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := fsys.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if _, err := share.Init(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	self, err := hosts.Self("h1")
	if err != nil {
		t.Fatal(err)
	}
	locker, err := lockfile.New(lockfile.Config{FS: root, Host: self, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t}
	w.store = store.Open(store.Config{FS: root, Locker: locker, Host: "h1", Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	by := store.By{Actor: "test"}
	if err := w.store.Create(t.Context(), ant, by, store.AddMember{Member: lists.Member{Address: "anne@example.org", Role: lists.RoleMember}}); err != nil {
		t.Fatal(err)
	}
	secrets := oneclick.NewSecrets(root, time.Now)
	if err := secrets.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := w.store.Read(t.Context(), ant)
	if err != nil {
		t.Fatal(err)
	}
	key, err := secrets.Key(t.Context(), st.List())
	if err != nil {
		t.Fatal(err)
	}
	w.token = key.Token(1, time.Now())
	w.h, err = handler(Config{
		Base: "https://lists.example.com/m/", Clock: time.Now, Log: slog.New(slog.DiscardHandler),
		Read: func(ctx context.Context, id lists.ID) (*store.State, error) {
			if w.err != nil {
				return nil, w.err
			}
			return w.store.Read(ctx, id)
		},
		Member: secrets.Check,
		Put: func(_ context.Context, e *queue.Entry) (queue.ID, error) {
			w.put = append(w.put, e)
			return "id", w.err
		},
		Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ask sends a request from an address and gives status and page.
func (w *world) ask(from, method, path, kind, body string) (int, string) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, strings.NewReader(body))
	r.RemoteAddr = from
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	rec := httptest.NewRecorder()
	w.h.ServeHTTP(rec, r)
	if rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Set-Cookie") != "" || rec.Code/100 == 3 {
		w.t.Errorf("%s %s: %d %v", method, path, rec.Code, rec.Header())
	}
	return rec.Code, rec.Body.String()
}

const here = "192.0.2.1:1234"

func TestOneClick(t *testing.T) {
	for _, tc := range []struct {
		method, path, kind, body string
		code                     int
		put                      bool
	}{
		{"GET", "T", "", "", 200, false},
		{"HEAD", "T", "", "", 200, false},
		{"GET", "T?List-Unsubscribe=One-Click", "", "", 200, false},
		{"POST", "T", form, click8058, 200, true},
		{"POST", "T", mixed, "--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--b--\r\n", 200, true},
		{"POST", "T?List-Unsubscribe=One-Click", form, "", 400, false},
		{"POST", "T", form, "", 400, false},
		{"POST", "T", "", click8058, 400, false},
		{"POST", "T", form, "x=" + strings.Repeat("y", maxBody) + "&" + click8058, 400, false},
		{"POST", "T", mixed, "--b\r\ntorn", 400, false},
		{"PUT", "T", form, click8058, 405, false},
		{"DELETE", "T", "", "", 405, false},
		{"POST", "T/", form, click8058, 404, false},
		{"POST", "Tx", form, click8058, 404, false},
		{"POST", "", form, click8058, 404, false},
	} {
		w := newWorld(t)
		path := "/m/" + string(ant) + "/" + strings.Replace(tc.path, "T", w.token, 1)
		code, page := w.ask(here, tc.method, path, tc.kind, tc.body)
		if code != tc.code || (len(w.put) == 1) != tc.put {
			t.Errorf("%s %s %q: %d, %d entries\n%s", tc.method, tc.path, tc.body, code, len(w.put), page)
		}
		if tc.put && (w.put[0].Meta.Web != "leave 1" || w.put[0].Queue != queue.Command || w.put[0].Target.List != ant || w.put[0].Source != "web 192.0.2.1") {
			t.Errorf("%+v", w.put[0])
		}
	}
}

// A link is good for the membership it was made for: who has joined again has another.
func TestFormerMembership(t *testing.T) {
	w := newWorld(t)
	h, err := w.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	anne := lists.Member{Address: "anne@example.org", Role: lists.RoleMember}
	for _, c := range []store.Change{store.DelMember{Role: anne.Role, Address: anne.Address}, store.AddMember{Member: anne}} {
		if err := h.Commit(t.Context(), store.By{Actor: "test"}, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"GET", "POST"} {
		code, page := w.ask(here, method, "/m/"+string(ant)+"/"+w.token, form, click8058)
		if code != 200 || len(w.put) != 0 || strings.Contains(page, "<form") || !strings.Contains(page, "earlier membership") || !strings.Contains(page, "mailto:ant-leave@lists.example.com") {
			t.Errorf("%s: %d, %d entries\n%s", method, code, len(w.put), page)
		}
	}
}

func TestTwiceIsOnce(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		if code, _ := w.ask(here, "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 200 {
			t.Error(code)
		}
	}
	if len(w.put) != 1 {
		t.Errorf("%d entries", len(w.put))
	}
}

// Nobody hears 200 of what is not on stable storage.
func TestTrouble(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("share is gone")
	if code, _ := w.ask(here, "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 503 {
		t.Error(code)
	}
	w.err = nil
	old := w.h.(*site).Put
	w.h.(*site).Put = func(context.Context, *queue.Entry) (queue.ID, error) { return "", errors.New("no space") }
	if code, _ := w.ask(here, "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 503 {
		t.Error(code)
	}
	w.h.(*site).Put = old
	if code, _ := w.ask(here, "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 200 || len(w.put) != 1 {
		t.Error(code)
	}
}

func TestConfirm(t *testing.T) {
	w := newWorld(t)
	h, err := w.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	p := store.Pending{ID: "aaaaaaaaaa", Token: strings.Repeat("b", 26), Kind: store.PendingJoin, State: store.PendingConfirm, Address: "b&b@example.org", Since: time.Now(), Until: time.Now().Add(time.Hour)}
	q := p
	q.ID, q.State = "cccccccccc", store.PendingModerate
	if err := h.Commit(t.Context(), store.By{Actor: "test"}, store.OpenPending{Pending: p}, store.OpenPending{Pending: q}); err != nil {
		t.Fatal(err)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := "/m/" + string(ant) + "/confirm/"
	code, page := w.ask(here, "GET", at+"aaaaaaaaaa."+p.Token, "", "")
	if code != 200 || !strings.Contains(page, "b&amp;b@example.org: join") || len(w.put) != 0 {
		t.Errorf("%d %s", code, page)
	}
	for _, other := range []string{"aaaaaaaaaa." + strings.Repeat("c", 26), "cccccccccc." + q.Token, "", "x"} {
		if code, _ := w.ask(here, "POST", at+other, form, "Confirm=yes"); code != 404 {
			t.Errorf("%s: %d", other, code)
		}
	}
	if code, _ := w.ask(here, "POST", at+"aaaaaaaaaa."+p.Token, form, "Confirm=yes"); code != 200 || len(w.put) != 1 || w.put[0].Meta.Web != "confirm aaaaaaaaaa."+p.Token {
		t.Errorf("%d %+v", code, w.put)
	}
}

// Guessing ends soon; others are served meanwhile, also behind the same proxy.
func TestRateLimit(t *testing.T) {
	w := newWorld(t)
	n := 0
	for code := 404; code == 404; n++ {
		code, _ = w.ask(here, "GET", "/m/"+string(ant)+"/guess", "", "")
	}
	if n > burst/wrong+2 {
		t.Errorf("%d guesses", n)
	}
	if code, _ := w.ask(here, "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 429 {
		t.Error(code)
	}
	if code, _ := w.ask("192.0.2.2:1", "POST", "/m/"+string(ant)+"/"+w.token, form, click8058); code != 200 {
		t.Error(code)
	}
}

func TestClient(t *testing.T) {
	s := &site{Config: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}}}
	for _, tc := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:5", "198.51.100.1", "192.0.2.1"},
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:5", "forged, 203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"},
		{"10.0.0.1:5", "junk", "10.0.0.1"},
		{"[::1]:5", "2001:db8::1", "2001:db8::1"},
		{"[::ffff:10.0.0.1]:5", "::ffff:198.51.100.1", "198.51.100.1"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.RemoteAddr = tc.peer
		r.Header.Set("X-Forwarded-For", tc.forwarded)
		if got := s.client(r).String(); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestLimitsForget(t *testing.T) {
	l, now := newLimits(), time.Now()
	for i := range 3 * clients {
		l.allow(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if len(l.buckets) > clients {
		t.Error(len(l.buckets))
	}
	a := netip.MustParseAddr("192.0.2.1")
	for range burst {
		l.allow(a, now)
	}
	if l.allow(a, now) || !l.allow(a, now.Add(time.Second)) {
		t.Error("the bucket leaks")
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"/m/ant@lists.example.com/x", "/m//", "/m/ant@lists.example.com/confirm/a.b", "/", "/m/../x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		h, err := handler(Config{
			Base: "https://x.example/m", Clock: time.Now, Log: slog.New(slog.DiscardHandler),
			Read: func(_ context.Context, id lists.ID) (*store.State, error) {
				return nil, fmt.Errorf("%s: %w", id, lists.ErrNoList)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
		r.URL.Path = path
		rec := httptest.NewRecorder()
		if h.ServeHTTP(rec, r); rec.Code != 404 {
			t.Errorf("%q: %d", path, rec.Code)
		}
	})
}
