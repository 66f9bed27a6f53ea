package fanout

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// bubble runs a test in a synctest bubble with a world of its own.
func bubble(t *testing.T, cfg simfs.Config, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t, cfg)) })
}

func TestBulkOverTwoHosts(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.pause = 50 * time.Millisecond
		a, b := w.send(w.post(95)), w.send(w.post(7))
		for _, h := range []string{"a", "b"} {
			defer w.host(h)()
		}
		w.settled(time.Hour)
		w.once(95, a)
		w.once(7, b)
		if len(w.locks.held) > 0 || len(w.ls("tmp")) > 0 || len(w.ls("bounces"))+len(w.ls("virgin")) > 0 {
			t.Errorf("left over: claims %v, tmp %v", w.locks.held, w.ls("tmp"))
		}
		if w.smtp.most < 3 {
			t.Errorf("never more than %d connections of a host at work", w.smtp.most)
		}
	})
}

func TestVERPOneTransactionEach(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		f := w.post(25)
		f.VERP = true
		id := w.send(f)
		defer w.host("a")()
		w.settled(time.Hour)
		w.once(25, id)
		for _, s := range w.smtp.tried() {
			_, extra, _ := strings.Cut(s.sender.Local(), "+")
			if v, ok := mailaddr.DecodeVERP(extra); !ok || !v.Names(s.rcpt) {
				t.Errorf("%s got mail from %s", s.rcpt, s.sender)
			}
		}
	})
}

func TestTemporaryFailureComesBackPerRecipient(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.members(25)
		w.smtp.script = func(_ *queue.Transaction, r mailaddr.Address, try int) queue.Reply {
			if r == "m3@example.org" && try < 3 || r == "m14@example.org" && try < 1 {
				return reply(450, queue.PhaseRcpt, "4.2.2", "mailbox full")
			}
			return queue.Reply{}
		}
		began := time.Now()
		id := w.send(w.post(25))
		for _, h := range []string{"a", "b"} {
			defer w.host(h)()
		}
		w.settled(3 * time.Hour)
		w.once(25, id)
		var at []time.Duration
		for _, s := range w.smtp.tried() {
			if s.rcpt == "m3@example.org" {
				at = append(at, s.at.Sub(began))
			}
		}
		// 5, 10 and 20 minutes, each 10 % more or less, and some seconds of polling.
		for i, want := range []time.Duration{0, 5, 15, 35} {
			want *= time.Minute
			if len(at) != 4 || at[i] < want*9/10 || at[i] > want*11/10+10*time.Second {
				t.Fatalf("tries at %v", at)
			}
		}
		if n := w.smtp.count("m0@example.org"); n != 1 {
			t.Errorf("m0 was tried %d times", n)
		}
	})
}

func TestGivenUpAfterFiveDays(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.poll = time.Minute
		w.members(13)
		w.roster[99] = &lists.Member{ID: 99, Role: lists.RoleOwner, Address: "boss@example.org"}
		w.smtp.script = func(_ *queue.Transaction, r mailaddr.Address, _ int) queue.Reply {
			switch r {
			case "m3@example.org":
				return reply(450, queue.PhaseRcpt, "4.2.2", "mailbox full")
			case "m12@example.org":
				return reply(0, queue.PhaseData, "", "connection lost")
			}
			return queue.Reply{}
		}
		began := time.Now()
		w.send(w.post(13))
		defer w.host("a")()
		w.settled(8 * 24 * time.Hour)
		if d := time.Since(began); d < 5*24*time.Hour || d > 5*24*time.Hour+time.Hour {
			t.Errorf("given up after %v", d)
		}
		var got []string
		for _, e := range w.entries(queue.Bounces) {
			got = append(got, fmt.Sprintf("%s %s %s", e.Meta.Bounce.Recipient.Address, e.Meta.Bounce.Phase, e.Target.Address()))
		}
		if want := "[m12@example.org expired ant-bounces@example.com m3@example.org expired ant-bounces@example.com]"; fmt.Sprint(sorted(got)) != want {
			t.Errorf("bounce events %v", got)
		}
		reports := w.entries(queue.Virgin)
		if len(reports) != 1 || len(reports[0].Meta.Recipients) != 1 || !strings.Contains(string(reports[0].Raw), "m3@example.org") {
			t.Fatalf("%d owner reports: %+v", len(reports), reports)
		}
	})
}

func TestRefusedBecomesBounceEvent(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.script = func(_ *queue.Transaction, r mailaddr.Address, _ int) queue.Reply {
			if strings.HasPrefix(string(r), "m1") {
				return reply(550, queue.PhaseRcpt, "5.1.1", "no such user")
			}
			return queue.Reply{}
		}
		w.send(w.post(12)) // m1, and m10, m11 in a range of their own
		defer w.host("a")()
		w.settled(time.Hour)
		var got []string
		for _, e := range w.entries(queue.Bounces) {
			got = append(got, fmt.Sprintf("%s %d %s %s", e.Meta.Bounce.Recipient.Address, e.Meta.Bounce.Recipient.Member, e.Meta.Bounce.Phase, e.Meta.Bounce.Reply))
		}
		want := []string{"m10@example.org 11 rcpt 550 5.1.1 no such user", "m11@example.org 12 rcpt 550 5.1.1 no such user", "m1@example.org 2 rcpt 550 5.1.1 no such user"}
		if fmt.Sprint(sorted(got)) != fmt.Sprint(want) {
			t.Errorf("bounce events %v", got)
		}
		if len(w.smtp.tried()) != 12 || len(w.notices) != 0 {
			t.Errorf("%d tries, notices %v", len(w.smtp.tried()), w.notices)
		}
	})
}

func TestSameRefusalForAllIsTheSitesFault(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.poll = time.Minute
		w.members(25)
		mended := time.Now().Add(24 * time.Hour)
		w.smtp.script = func(_ *queue.Transaction, r mailaddr.Address, _ int) queue.Reply {
			if time.Now().Before(mended) {
				return reply(554, queue.PhaseRcpt, "5.7.1", "<"+string(r)+">: Relay access denied")
			}
			return queue.Reply{}
		}
		id := w.send(w.post(25))
		defer w.host("a")()
		w.settled(48 * time.Hour)
		w.once(25, id)
		if n := len(w.ls("bounces")) + len(w.ls("virgin")); n > 0 {
			t.Errorf("%d bounce events and reports", n)
		}
		if len(w.notices) != 1 {
			t.Errorf("%d notices to the site owner", len(w.notices))
		}
	})
}

func TestSiteFaultForTooLongGoesToShuntAndComesBack(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.poll = time.Minute
		w.members(25)
		w.smtp.script = func(*queue.Transaction, mailaddr.Address, int) queue.Reply {
			return reply(550, queue.PhaseMail, "5.7.1", "sender not allowed")
		}
		id := w.send(w.post(25))
		defer w.host("a")()
		w.settled(8 * 24 * time.Hour)
		if n := len(w.ls("shunt")); n == 0 || len(w.ls("bounces")) > 0 {
			t.Fatalf("shunt %v, bounces %v", w.ls("shunt"), w.ls("bounces"))
		}
		w.smtp.mu.Lock()
		w.smtp.script = nil
		w.smtp.mu.Unlock()
		if err := Reopen(w.eye, ant, id); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Hour)
		w.once(25, id)
	})
}

func TestRefusedMessageIsNobodysBounce(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.script = func(*queue.Transaction, mailaddr.Address, int) queue.Reply {
			return reply(554, queue.PhaseDot, "5.7.1", "looks like spam")
		}
		w.members(25)
		post := w.post(25)
		post.Raw = []byte("From: M <m3@example.org>\r\nSubject: hi\r\nMessage-ID: <1@example.org>\r\n\r\nhello\r\n")
		w.send(post)
		notice := w.post(1)
		notice.Bulk = false
		w.send(notice)
		defer w.host("a")()
		w.settled(time.Hour)
		if len(w.ls("bounces")) > 0 {
			t.Errorf("bounce events %v", w.ls("bounces"))
		}
		var owners, poster int
		for _, e := range w.entries(queue.Virgin) {
			switch raw, rs := string(e.Raw), e.Meta.Recipients; {
			case len(rs) == 1 && rs[0].Kind == lists.KindNotice && rs[0].Address == "m3@example.org" && strings.Contains(raw, "looks like spam") && strings.Contains(raw, "25\r\nof the members"):
				poster++
			case strings.Contains(raw, "25 of its recipients"):
				owners++
			default:
				t.Errorf("%v: %s", rs, raw)
			}
		}
		if owners != 1 || poster != 1 {
			t.Errorf("%d reports to owners, %d to the poster", owners, poster)
		}
	})
}

func TestDeadSmarthostCostsOneProbe(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.down = &queue.SiteError{Host: "smtp", Phase: queue.PhaseConnect}
		var posts []queue.ID
		for range 50 {
			posts = append(posts, w.send(w.post(5)))
		}
		defer w.host("a")()
		time.Sleep(2 * time.Hour)
		w.smtp.mu.Lock()
		if n := w.smtp.acquires; n < 10 || n > 40 {
			t.Errorf("%d probes in two hours", n)
		}
		w.smtp.down = nil
		w.smtp.mu.Unlock()
		if n := len(w.ls("out")); n != 100 {
			t.Errorf("%d files in out/: claims were made", n)
		}
		if len(w.notices) != 1 {
			t.Errorf("%d notices", len(w.notices))
		}
		w.settled(time.Hour)
		w.once(5, posts...)
	})
}

func TestWhoLeftGetsNoRetry(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.members(10)
		w.noRost = fmt.Errorf("no roster now")
		f := w.post(10)
		f.Recipients[2].Kind, f.Recipients[2].Member = lists.KindNotice, 0
		f.Recipients[3].Kind = lists.KindOwner
		w.smtp.script = func(_ *queue.Transaction, r mailaddr.Address, try int) queue.Reply {
			if r < "m5" && try < 1 {
				return reply(451, queue.PhaseRcpt, "4.7.1", "later")
			}
			return queue.Reply{}
		}
		w.send(f)
		defer w.host("a")()
		time.Sleep(7 * time.Minute) // one retry, without a roster
		w.mu.Lock()
		for m, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 1} {
			if got := w.smtp.count(mailaddr.Address(fmt.Sprintf("m%d@example.org", m))); got != want {
				t.Errorf("without a roster: m%d was tried %d times, want %d", m, got, want)
			}
		}
		w.noRost = nil
		delete(w.roster, 1) // m0
		delete(w.roster, 3) // m2, a notice: not a matter of the roster
		w.mu.Unlock()
		w.settled(time.Hour)
		for m, want := range map[int]int{0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 5: 1} {
			if got := w.smtp.count(mailaddr.Address(fmt.Sprintf("m%d@example.org", m))); got != want {
				t.Errorf("m%d was tried %d times, want %d", m, got, want)
			}
		}
	})
}

func TestTooManyRecipientsGoesOnAtOnce(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.script = func(t *queue.Transaction, r mailaddr.Address, _ int) queue.Reply {
			if len(t.Recipients) > 1 && r != t.Recipients[0] {
				return reply(452, queue.PhaseRcpt, "4.5.3", "too many recipients")
			}
			return queue.Reply{}
		}
		began := time.Now()
		id := w.send(w.post(25))
		defer w.host("a")()
		w.settled(time.Hour)
		w.once(25, id)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("took %v", d)
		}
	})
}

func TestSMTPUTF8OnlyForWhomItIsNeeded(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.smtp.script = func(t *queue.Transaction, _ mailaddr.Address, _ int) queue.Reply {
			if t.UTF8 {
				return reply(550, queue.PhaseMail, "5.6.7", "SMTPUTF8 is not offered")
			}
			return queue.Reply{}
		}
		f := w.post(1)
		f.UTF8 = true
		f.Recipients = append(f.Recipients, lists.Recipient{Kind: lists.KindMember, Member: 2, Address: "дора@example.org"})
		id := w.send(f)
		defer w.host("a")()
		w.settled(time.Hour)
		w.once(1, id)
		b := w.entries(queue.Bounces)
		if len(b) != 1 || b[0].Meta.Bounce.Recipient.Address != "дора@example.org" || len(w.smtp.tried()) != 2 {
			t.Errorf("bounces %v, sent %v", b, w.smtp.tried())
		}
	})
}
