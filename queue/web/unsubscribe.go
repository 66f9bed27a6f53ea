package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
	"qrunner/queue"
)

// The field that mailbox providers and our own button POST (RFC 8058 §3.1).
const (
	field = "List-Unsubscribe"
	click = "One-Click"
)

// unsubscribe is the page of a one-click token.
func (s *site) unsubscribe(w http.ResponseWriter, r *http.Request, st *store.State, token string) (int, page) {
	member, err := s.Member(r.Context(), st.List(), token)
	if errors.Is(err, oneclick.ErrToken) {
		return gone()
	}
	if err != nil {
		return s.trouble(r.Context(), st.ID(), err)
	}
	list := string(st.ID().Posting())
	m, ok := st.List().Roster.ByID(member)
	switch {
	case !ok || m.Role != lists.RoleMember: // it was done before: fine, but he may have joined again
		return http.StatusOK, former(st.ID())
	case r.Method != http.MethodPost:
		return http.StatusOK, page{Title: "Unsubscribe", Text: string(m.Address) + " gets the mail of " + list + ".", Field: field, Value: click, Button: "Unsubscribe"}
	case !posted(w, r, field, click):
		return http.StatusBadRequest, page{Title: "Not possible", Text: "The request does not say what it wants."}
	}
	if err := s.put(r, lists.Target{List: st.ID(), Sub: lists.SubLeave}, m.Address, "leave "+strconv.FormatUint(uint64(member), 10)); err != nil {
		return s.trouble(r.Context(), st.ID(), err)
	}
	return http.StatusOK, page{Title: "You are unsubscribed", Text: string(m.Address) + " gets no more mail from " + list + ", but for what is on its way already."}
}

// former is the page of a token whose membership has ended. Whose it was is not known any
// more, so nor is whether the same address is a member again: the new membership has
// tokens of its own.
func former(id lists.ID) page {
	return page{
		Title: "This membership has ended",
		Text: "This link belongs to an earlier membership of " + string(id.Posting()) + ", which gets no mail any more. If you have joined again since, and want to leave, " +
			"use the link in a newer mail, or write to " + string(id.Address(lists.SubLeave)) + ".",
		Links: []link{{"Write to " + string(id.Address(lists.SubLeave)), mailto(id, lists.SubLeave, "")}},
	}
}

// confirm is the page of a token that was sent to somebody to be confirmed.
func (s *site) confirm(w http.ResponseWriter, r *http.Request, st *store.State, token string) (int, page) {
	p, ok := subscribe.Find(st, token, s.Clock())
	if !ok || p.State != store.PendingConfirm || p.Kind == store.PendingOwner {
		return gone()
	}
	what := string(p.Address) + ": " + subscribe.Describe(p) + ", " + string(st.ID().Posting())
	if r.Method != http.MethodPost {
		return http.StatusOK, page{Title: "Please confirm", Text: what, Field: "Confirm", Value: "yes", Button: "Confirm"}
	}
	if !posted(w, r, "Confirm", "yes") {
		return http.StatusBadRequest, page{Title: "Not possible", Text: "The request does not say what it wants."}
	}
	if err := s.put(r, lists.Target{List: st.ID(), Sub: lists.SubConfirm}, p.Address, "confirm "+subscribe.Token(p)); err != nil {
		return s.trouble(r.Context(), st.ID(), err)
	}
	return http.StatusOK, page{Title: "Thank you", Text: "Confirmed: " + what}
}

// posted reports whether a POST has a field with that value, as a form or as multipart.
func posted(w http.ResponseWriter, r *http.Request, name, value string) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseMultipartForm(maxBody); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return false
	}
	defer func() {
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll()
		}
	}()
	return r.PostForm.Get(name) == value
}

// put makes the entry that does what was asked for, about an address. One that was made a moment ago is as
// good: mailbox providers ask again, and people click twice.
func (s *site) put(r *http.Request, to lists.Target, about mailaddr.Address, what string) error {
	key := string(to.List) + " " + what
	if s.recent.has(key, s.Clock()) {
		return nil
	}
	e := &queue.Entry{Queue: queue.Command, List: to.List, Raw: []byte("Subject: " + field + "\r\n\r\n")}
	e.Target, e.Source, e.Trace, e.Meta.Web = to, "web "+s.client(r).String(), newTrace(), what
	id, err := s.Put(context.WithoutCancel(r.Context()), e)
	if err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "asked for on a page", "list", to.List, "entry", id, "trace", e.Trace, "rcpt", about, "source", e.Source)
	s.recent.add(key, s.Clock())
	s.Wake(to.List)
	return nil
}
