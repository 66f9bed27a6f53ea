package fanout

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// firstJournal is what the folder has before TestWithdraws meddles with it.
const firstJournal = "journal.000000.0001"

type meddling struct {
	name string
	do   func(w *world, dir string, id queue.ID) error
}

func meddlings() []meddling {
	return []meddling{
		{"taken down, half deleted", func(w *world, dir string, id queue.ID) error {
			_ = fsys.MkdirAll(w.eye, doneDir)
			return errors.Join(w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+finishedMark),
				w.eye.Rename(dir, doneDir+"/"+string(id)), w.eye.Remove(doneDir+"/"+string(id)+"/"+spool.RecipientsFile))
		}},
		{"finished by a winner that died", func(w *world, dir string, _ queue.ID) error {
			return w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+finishedMark)
		}},
		{"round over, moved to retry", func(w *world, dir string, id queue.ID) error {
			return errors.Join(w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+roundName(1)),
				w.eye.Rename(dir, "queue/retry/"+spool.RetryName(time.Now(), id)))
		}},
		{"round over, and the next one open", func(w *world, dir string, _ queue.ID) error {
			return errors.Join(w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+roundName(1)),
				w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+openName(2)))
		}},
		{"a successor is there", func(w *world, dir string, _ queue.ID) error {
			return w.eye.Link(dir+"/"+spool.MessageFile, dir+"/"+journalName("000000", 3))
		}},
		{"a journal below is gone", func(w *world, dir string, _ queue.ID) error {
			return w.eye.Remove(dir + "/" + firstJournal)
		}},
		{"parked by an operator", func(w *world, dir string, id queue.ID) error {
			return errors.Join(Park(w.eye, ant, id, "discarded"), w.eye.Rename(dir, "queue/tmp/x"))
		}},
	}
}

// TestWithdraws: what may happen between a look at a folder and the journal in it.
func TestWithdraws(t *testing.T) {
	for _, tt := range meddlings() {
		for _, when := range []string{"opendir", "dirlink"} {
			t.Run(tt.name+" before "+when, func(t *testing.T) {
				bubble(t, simfs.Config{}, func(w *world) {
					id := w.send(w.post(25))
					u := unit{ant, id}
					if err := w.eye.Link(u.dir()+"/"+spool.MessageFile, u.dir()+"/"+firstJournal); err != nil {
						t.Fatal(err)
					}
					h := w.srv.Host("a")
					c := w.config(h)
					armed := false
					c.FS = fsys.Observed(h, fsys.Hook{Before: func(op, _ string) error {
						if armed && op == when {
							armed = false
							return tt.do(w, u.dir(), id)
						}
						return nil
					}})
					s := New(c)
					v, err := s.look(u)
					if err != nil {
						t.Fatal(err)
					}
					armed = true
					if cl, err := s.take(t.Context(), u, "000000", v); !errors.Is(err, errMoved) {
						t.Errorf("take: %v, %v", cl, err)
					}
					if armed || len(w.locks.held) > 0 {
						t.Errorf("not met: %v, claims held: %v", armed, w.locks.held)
					}
				})
			})
		}
	}
}

// TestSleeperCarriesOutAnOldMark: a host that saw the mark of round 1, slept, and
// moves the folder while round 2 is at work.
func TestSleeperCarriesOutAnOldMark(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.members(25)
		w.smtp.pause = time.Second
		w.smtp.script = func(_ *queue.Transaction, _ mailaddr.Address, try int) queue.Reply {
			if try == 0 {
				return reply(451, queue.PhaseRcpt, "4.3.0", "later")
			}
			return queue.Reply{}
		}
		id := w.send(w.post(25))
		u := unit{ant, id}
		slept := false
		again := w.smtp.script
		w.smtp.script = func(tr *queue.Transaction, r mailaddr.Address, try int) queue.Reply {
			if try == 1 && !slept {
				slept = true
				if err := w.eye.Rename(u.dir(), "queue/retry/"+spool.RetryName(time.Now().Add(-time.Minute), id)); err != nil {
					t.Error(err)
				}
			}
			return again(tr, r, try)
		}
		defer w.host("a")()
		defer w.host("b")()
		w.settled(time.Hour)
		w.once(25, id)
	})
}

// TestLostClaim: the results that a host still gets are in its journal, it begins
// nothing more, and its successor repeats at most what was in flight, and says so.
func TestLostClaim(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = time.Second
		f := w.post(10)
		f.VERP = true
		id := w.send(f)
		h := w.srv.Host("a")
		c := w.config(h)
		c.Conns = 2
		stop := w.start(h, c)
		for len(w.smtp.tried()) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
		defer w.host("b")()
		w.locks.revoke(unit{ant, id}.key("000000"))
		w.settled(time.Hour)
		stop()
		repeats := 0
		for r, n := range w.smtp.copied() {
			if n > 1 && !w.log.repeats()[strings.Fields(r)[1]] {
				t.Errorf("%s: %d copies, not logged", r, n)
			}
			repeats += n - 1
		}
		if len(w.smtp.copies) != 10 || repeats > 2 {
			t.Errorf("%d served, %d repeats\n%s", len(w.smtp.copies), repeats, w.log)
		}
	})
}

// TestDrain: transactions in flight end and are journaled; nothing is repeated.
func TestDrain(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = time.Second
		f := w.post(50)
		f.VERP = true
		id := w.send(f)
		stop := w.host("a")
		time.Sleep(2500 * time.Millisecond)
		began := time.Now()
		stop()
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("drained in %v", d)
		}
		if n := len(w.smtp.tried()); n == 0 || n >= 50 || len(w.locks.held) > 0 {
			t.Errorf("%d sent, claims held %v", n, w.locks.held)
		}
		defer w.host("b")()
		w.settled(time.Hour)
		w.once(50, id)
		if len(w.log.repeats()) > 0 {
			t.Errorf("repeats logged: %v", w.log.repeats())
		}
	})
}

// barren leaves a journal as a host does that dies in the middle of its first
// transaction; orderly adds a quit line.
func (w *world) barren(s *Sender, u unit, orderly bool) {
	w.t.Helper()
	v, err := s.look(u)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := s.take(w.t.Context(), u, "000000", v)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.j.commit(record{kind: start, set: makeSet(0, 1, 2)}); err != nil {
		w.t.Fatal(err)
	}
	if orderly {
		c.drop(w.t.Context(), "the share is full")
		return
	}
	_ = c.j.close()
	_ = c.lease.Unlock(w.t.Context())
}

func TestPoisonGoesToShunt(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.members(5)
		id := w.send(w.post(5))
		s := New(w.config(w.srv.Host("a")))
		for range maxBarren {
			w.barren(s, unit{ant, id}, false)
		}
		other := w.send(w.post(5))
		defer w.host("b")()
		w.settled(time.Hour)
		w.once(5, other)
		if len(w.smtp.tried()) != 5 || len(w.ls("shunt")) < 5 {
			t.Fatalf("%d sent, shunt %v", len(w.smtp.tried()), w.ls("shunt"))
		}
		if err := Reopen(w.eye, ant, id); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Hour)
		w.once(5, id)
	})
}

func TestTroubleOfTheShareIsNoPoison(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		id := w.send(w.post(5))
		h := w.srv.Host("a")
		var full atomic.Bool
		full.Store(true)
		c := w.config(h)
		c.FS = fsys.Observed(h, fsys.Hook{Before: func(op, name string) error {
			if full.Load() && op == "sync" {
				return errors.New("no space left")
			}
			return nil
		}})
		defer w.start(h, c)()
		time.Sleep(10 * time.Minute)
		if n := len(w.ls("out")); n < maxBarren+2 {
			t.Errorf("only %d files: the trouble was not met", n)
		}
		full.Store(false)
		w.settled(time.Hour)
		w.once(5, id)
		if len(w.ls("shunt")) > 0 {
			t.Errorf("shunt: %v", w.ls("shunt"))
		}
	})
}

func TestOrderlyEndsAreNoPoison(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		id := w.send(w.post(5))
		s := New(w.config(w.srv.Host("a")))
		for i := range 3 * maxBarren {
			w.barren(s, unit{ant, id}, i%maxBarren == 0)
		}
		defer w.host("b")()
		w.settled(time.Hour)
		w.once(5, id)
	})
}

func TestDamagedFanoutGoesToShunt(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		id := w.send(w.post(5))
		name := unit{ant, id}.dir() + "/" + spool.RecipientsFile
		f, err := w.eye.OpenFile(name, 1|1024, 0) // write, append
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "member 7 x@example.org")
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
		good := w.send(w.post(5))
		defer w.host("a")()
		w.settled(time.Hour)
		w.once(5, good)
		if len(w.smtp.tried()) != 5 || len(w.ls("shunt")) == 0 {
			t.Errorf("%d sent, shunt %v", len(w.smtp.tried()), w.ls("shunt"))
		}
		p, err := ReadParked(w.eye, ant, id)
		if err != nil || p.Round != 1 || !strings.Contains(p.Cause, "recipients") {
			t.Errorf("parked: %+v, %v; want the cause in round 1", p, err)
		}
	})
}

func TestNoticeOvertakesPosts(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = time.Second
		for range 20 {
			w.send(w.post(50))
		}
		defer w.host("a")()
		time.Sleep(5 * time.Second)
		f := w.post(1)
		f.Bulk = false
		id := w.send(f)
		time.Sleep(5 * time.Second)
		w.once(1, id)
		w.settled(time.Hour)
	})
}

// TestPostsLeaveInOrder: on one host nobody gets post 2 before post 1.
func TestPostsLeaveInOrder(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = 100 * time.Millisecond
		for range 10 {
			w.send(w.post(25))
		}
		defer w.host("a")()
		w.settled(time.Hour)
		last := map[mailaddr.Address]string{}
		for _, s := range w.smtp.tried() {
			if s.entry < last[s.rcpt] {
				t.Fatalf("%s got %s after %s", s.rcpt, s.entry, last[s.rcpt])
			}
			last[s.rcpt] = s.entry
		}
	})
}
