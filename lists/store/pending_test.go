package store

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func pendingJoin(id string, at time.Time) Pending {
	return Pending{
		ID: id, Token: "t", Kind: PendingJoin, State: PendingConfirm, Address: "Zed@example.net", Name: "Zed",
		Args: map[string]string{"a": "b"}, Since: at.UTC(), Until: at.Add(time.Hour).UTC(),
	}
}

func TestPending(t *testing.T) {
	s := emptyState("ant@example.com", "i")
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	st, err := s.With(at, OpenPending{pendingJoin("b", at.Add(time.Minute))}, OpenPending{pendingJoin("a", at.Add(2*time.Minute))})
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := st.PendingFor(PendingJoin, "zed@EXAMPLE.net", at); !ok || p.ID != "b" {
		t.Errorf("the older one: %+v, %v", p, ok)
	}
	if p, ok := st.PendingFor(PendingJoin, "zed@example.net", at.Add(61*time.Minute)); !ok || p.ID != "a" {
		t.Errorf("the one that has not expired: %+v, %v", p, ok)
	}
	if _, ok := st.PendingFor(PendingLeave, "zed@example.net", at); ok {
		t.Error("another kind is found")
	}
	if _, ok := st.Pending("b", at.Add(61*time.Minute)); ok {
		t.Error("an expired request is found")
	}
	if len(st.Pendings()) != 2 || st.Pendings()[0].ID != "b" {
		t.Errorf("%+v", st.Pendings())
	}
	st.version = 1
	var b bytes.Buffer
	if err := writeSnapshot(&b, st); err != nil {
		t.Fatal(err)
	}
	back, err := decodeSnapshot(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(st.Pendings(), back.Pendings()); diff != "" {
		t.Error(diff)
	}
	if p, ok := back.PendingFor(PendingJoin, "zed@example.net", at); !ok || p.ID != "b" {
		t.Errorf("after a snapshot: %+v, %v", p, ok)
	}
	if st, err = back.With(at, ClosePending{"b"}); err != nil {
		t.Fatal(err)
	}
	if p, ok := st.PendingFor(PendingJoin, "zed@example.net", at); !ok || p.ID != "a" || len(back.Pendings()) != 2 {
		t.Errorf("after the first is closed: %+v, %v", p, ok)
	}
	if _, err := st.With(at, ClosePending{"b"}); !errors.Is(err, ErrNoPending) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestPendingThatDoesNotFit(t *testing.T) {
	s := emptyState("ant@example.com", "i")
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for name, edit := range map[string]func(*Pending){
		"no id":       func(p *Pending) { p.ID = "" },
		"no token":    func(p *Pending) { p.Token = "" },
		"no kind":     func(p *Pending) { p.Kind = "" },
		"no state":    func(p *Pending) { p.State = "x" },
		"no time":     func(p *Pending) { p.Until = p.Since },
		"no address":  func(p *Pending) { p.Address = "zed" },
		"null sender": func(p *Pending) { p.Address = "" },
	} {
		p := pendingJoin("a", at)
		edit(&p)
		if _, err := s.With(at, OpenPending{p}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := s.With(at, OpenPending{pendingJoin("a", at)}, OpenPending{pendingJoin("a", at)}); err == nil {
		t.Error("taken twice")
	}
}
