package runner

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/stage"
)

// bounced is a host with a list of so many members, a thousand of whom have bounced,
// each at a domain of his own.
func bounced(t testing.TB, members int) *host {
	t.Helper()
	h := newHost(t, share(t), "a", done)
	h.cfg.Stages = stage.Table(stage.Config{Host: "a"})
	l, err := h.store.Lock(t.Context(), ant, "test")
	if err != nil {
		t.Fatal(err)
	}
	all := func(yield func(lists.Member) bool) {
		for i := range members {
			if !yield(lists.Member{Role: lists.RoleMember, Address: mailaddr.Address(fmt.Sprintf("member%d@d%d.example.org", i, i%5000))}) {
				return
			}
		}
	}
	if err := l.Import(t.Context(), store.By{Actor: "test"}, iter.Seq[lists.Member](all), func(int) {}); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

const manyBounces = 1000

func (h *host) putBounces(t testing.TB) {
	t.Helper()
	for i := range manyBounces {
		a := fmt.Sprintf("member%d@d%d.example.org", i, i%5000)
		e := &queue.Entry{Queue: queue.Bounces, List: ant, Raw: []byte("From: MAILER-DAEMON@mx.example.net\r\nSubject: failed\r\n" +
			"Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\nsorry\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
			"Reporting-MTA: dns; mx.example.net\r\n\r\nFinal-Recipient: rfc822; " + a + "\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b--\r\n")}
		e.Target = lists.Target{List: ant, Sub: lists.SubBounces}
		if _, err := h.spool.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// check confirms that every bounce got its point, and says in how many commits.
func (h *host) check(t testing.TB) (commits int) {
	t.Helper()
	st, err := h.store.Read(t.Context(), ant)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for b := range st.Bounces() {
		if b.Score != score.Point {
			t.Errorf("%s: %s", b.Address, b.Score)
		}
		n++
	}
	if n != manyBounces {
		t.Errorf("%d members have bounced", n)
	}
	err = h.store.Records(t.Context(), ant, func(r store.Record) error {
		if r.Kind == store.KindCommit && r.Reason == "queue" {
			commits++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return commits
}

func TestBouncesShareCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := bounced(t, 2000)
		h.putBounces(t)
		h.runFor(t, 5*time.Second)
		if n := h.check(t); n != 2 {
			t.Errorf("%d commits for %d bounces", n, manyBounces)
		}
	})
}

// A list of 138,000 members with a thousand bounces in its queue.
func BenchmarkBounces(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		h := bounced(b, 138000)
		h.putBounces(b)
		b.StartTimer()
		if _, err := h.turn(context.Background(), ant); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(float64(h.check(b)), "commits")
		b.StartTimer()
	}
}

func TestBouncesOfADeletedListEndQuietly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, share(t), "a", done)
		h.cfg.Stages[queue.Bounces] = stageFunc(done)
		e := &queue.Entry{Queue: queue.Bounces, List: bee, Raw: []byte("Subject: x\r\n\r\n")}
		e.Target = lists.Target{List: bee, Sub: lists.SubBounces}
		if _, err := h.spool.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		h.runFor(t, 5*time.Second)
		if h.count(t, queue.Shunt, bee) != 0 || h.count(t, queue.Bounces, bee) != 0 {
			t.Errorf("shunt %d, bounces %d", h.count(t, queue.Shunt, bee), h.count(t, queue.Bounces, bee))
		}
	})
}
