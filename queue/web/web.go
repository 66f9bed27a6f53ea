// Package web is what members see in a browser: the page behind List-Unsubscribe, whose
// POST takes them off a list at one click (RFC 8058), and the page that a token is
// confirmed at.
//
//	<base>/<list>/                  what the list is, and how to leave
//	<base>/<list>/<token>           one-click
//	<base>/<list>/confirm/<token>   confirm
//
// GET changes nothing, ever: programs follow links. POST decides nothing by itself either.
// It checks the token, puts an entry into the list's command queue, and answers when that
// is on stable storage; the list's holder does the rest. So no request waits for a lock.
// There are no cookies, no redirects, no scripts.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/clock"
	"qrunner/queue"
)

// Config is what the pages need. Proxies and Wake may be nil.
type Config struct {
	// Base is the URL that members see; its path is that of the pages.
	Base string
	// Read reads a list's state, without a lock; lists.ErrNoList.
	Read func(context.Context, lists.ID) (*store.State, error)
	// Member tells whose one-click token it is; oneclick.ErrToken, or trouble.
	Member func(context.Context, *lists.List, string) (lists.MemberID, error)
	// Put makes an entry in a queue, durable when it returns; Wake tells of it.
	Put  func(context.Context, *queue.Entry) (queue.ID, error)
	Wake func(lists.ID)
	// Proxies are the web servers whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	Clock   clock.Clock
	Log     *slog.Logger
}

// Limits of one request: time, and octets of header and body.
const (
	requestTime = 30 * time.Second
	maxHeader   = 16 << 10
	maxBody     = 64 << 10
)

// site is the pages while they are served.
type site struct {
	Config
	path   string
	limits *limits
	recent *recent
}

// Serve answers on l until ctx ends. It closes l.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	h, err := handler(c)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	srv := &http.Server{
		Handler: h, ReadTimeout: requestTime, WriteTimeout: 2 * requestTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() {
		// What was begun is finished: whoever asked should learn that it is done.
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
		defer cancel()
		_ = srv.Shutdown(rest)
	})
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve web pages: %w", err)
	}
	return nil
}

func handler(c Config) (http.Handler, error) {
	u, err := url.Parse(c.Base)
	if err != nil {
		return nil, fmt.Errorf("web base URL: %w", err)
	}
	if c.Wake == nil {
		c.Wake = func(lists.ID) {}
	}
	return &site{Config: c, path: strings.TrimRight(u.Path, "/"), limits: newLimits(), recent: newRecent()}, nil
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
	} {
		w.Header().Set(name, value)
	}
	from := s.client(r)
	now := time.Now()
	if !s.limits.allow(from, now) {
		w.Header().Set("Retry-After", "60")
		s.show(w, http.StatusTooManyRequests, page{Title: "Too many requests", Text: "Please try again in a minute."})
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		s.show(w, http.StatusMethodNotAllowed, page{Title: "Not possible", Text: "This page can only be read, and its button pressed."})
		return
	}
	code, p := s.answer(w, r)
	if code/100 == 4 {
		s.limits.charge(from, now)
	}
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "60")
	}
	s.show(w, code, p)
}

// What is answered for whatever is not there, so that nobody learns what is.
func gone() (int, page) {
	return http.StatusNotFound, page{
		Title: "This link is not valid", Text: "It is wrong, too old, or was used already. To confirm something, ask for it again; to leave a list, write to its -leave address.",
	}
}

// trouble logs what is wrong and asks to come again.
func (s *site) trouble(ctx context.Context, list lists.ID, err error) (int, page) {
	s.Log.WarnContext(ctx, "web page", "list", list, "err", err)
	return http.StatusServiceUnavailable, page{Title: "Not possible at the moment", Text: "Please try again in a few minutes."}
}

// answer finds the page.
func (s *site) answer(w http.ResponseWriter, r *http.Request) (int, page) {
	rest, ok := strings.CutPrefix(r.URL.Path, s.path+"/")
	name, rest, more := strings.Cut(rest, "/")
	id, err := lists.ParseID(name)
	if !ok || !more || err != nil {
		return gone()
	}
	st, err := s.Read(r.Context(), id)
	if errors.Is(err, lists.ErrNoList) {
		return gone()
	}
	if err != nil {
		return s.trouble(r.Context(), id, err)
	}
	token, confirm := strings.CutPrefix(rest, "confirm/")
	switch {
	case strings.Contains(token, "/"):
		return gone()
	case confirm:
		return s.confirm(w, r, st, token)
	case token == "":
		return s.about(r, st)
	}
	return s.unsubscribe(w, r, st, token)
}

// about says what a list is; one that is not advertised is not there.
func (s *site) about(r *http.Request, st *store.State) (int, page) {
	l := st.List()
	if r.Method == http.MethodPost || !l.Settings.Bool("advertised") {
		return gone()
	}
	return http.StatusOK, page{
		Title: string(l.ID.Posting()), Text: l.Settings.Text("description"),
		Links: []link{
			{"Subscribe", mailto(l.ID, lists.SubJoin, "")}, {"Unsubscribe", mailto(l.ID, lists.SubLeave, "")},
			{"Help", mailto(l.ID, lists.SubRequest, "?subject=help")}, {"Owners", mailto(l.ID, lists.SubOwner, "")},
		},
	}
}
