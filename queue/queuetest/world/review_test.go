package world_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	. "qrunner/queue/queuetest/world"
)

// reviewed says where each of the thirty-two ways in which earlier designs would have
// failed is tested: folder and test.
var reviewed = [33][]string{
	1:  {"lists/store TestRow1LinkedIsCommittedForGood", "queue/spool TestSleeperAtEveryCall"},
	2:  {"queue/spool TestHandedOverIsNotProcessedAgain", "queue/spool TestPowerCutInATurn", "queue/spool TestShuntedEntryTellsItsStoryAndComesBack"},
	3:  {"queue/fanout TestPowerCutInTheDeletion", "queue/fanout TestCrashAtEveryCall"},
	4:  {"queue/queuetest/world TestReview04_NewListIsTakenAtOnce", "lists/store TestRow4DoubtIsNotNoList", "lists/store TestRow4StaleHandleIsNotNoList"},
	5:  {"queue/queuetest/world TestEveryPostIsSeenWithinAMinute", "queue/spool TestHiddenNameIsFoundWithinThePollersRules"},
	6:  {"lists/store TestRow6SleeperBelowTheBase"},
	7:  {"queue/intake TestFaultsAreTemporary"},
	8:  {"queue/queuetest/world TestPoisonThatKillsHosts", "queue/queuetest/world TestTenBadMinutes", "queue/runner TestUncleanEndIsCareful"},
	9:  {"queue/fanout TestVERPOneTransactionEach", "queue/queuetest/world TestReview09_10_FilesOfALargePost"},
	10: {"queue/queuetest/world TestReview09_10_FilesOfALargePost", "queue/spool TestFanoutReadsOnlyWhatItNeeds"},
	11: {"queue/fanout TestTemporaryFailureComesBackPerRecipient", "queue/fanout TestWhoLeftGetsNoRetry", "queue/spool TestRetryNames"},
	12: {"queue/fanout TestCrashAtEveryCall", "queue/spool TestHeldMessageLetGo"},
	13: {"queue/queuetest/world TestReview13_DeadHostIsTakenOverByTrying", "locking/lockfile TestFairToOtherHosts"},
	14: {"locking/lockfile TestLocalGateIsAdvisory", "locking/lockfile TestHang"},
	15: {"queue TestIDRoundTripAndOrder", "locking/lockfile TestBug06_50_Names", "locking/lockfile TestBug09_12_25_DeadOnThisHost"},
	16: {"queue/intake TestDialogues", "queue/intake TestParentTimesOut"},
	17: {"queue/spool TestPutAgainstTidy"},
	18: {"locking/lockfile TestLinkCounts", "lists/store TestFenceOfAFailedGrant"},
	19: {"queue/spool TestUnreadableIsNotCorrupt", "queue/spool TestNewerFormatIsNotCorrupt"},
	20: {"queue/stage TestAccept", "queue/trace TestStoryOverHostsAndDays", "queue/queuetest/world TestReview20_CollidingListIDs"},
	21: {"lists/store TestRow21FenceBelowTheBase", "queue/queuetest/world TestCrashAtEveryStep"},
	22: {"locking/lockfile TestReview22_SillyRename"},
	23: {"locking/lockfile TestLinkCounts"},
	24: {"queue/fanout TestWithdraws", "queue/fanout TestPowerCutInTheDeletion"},
	25: {"queue/queuetest/world TestReview25_RangeOfASleeper"},
	26: {"queue/fanout TestWhoLeftGetsNoRetry"},
	27: {"queue/queuetest/world TestReview27_SamePostOnTwoHosts", "queue/stage TestRepeats", "queue/stage TestRepeatWithoutID"},
	28: {"queue/fanout TestCrashAtEveryCall"},
	29: {"queue/spool TestSleeperAtEveryCall", "queue/fanout TestPoisonGoesToShunt"},
	30: {"queue/queuetest/world TestReview30_MessageThatIsHungUpOn", "queue/smtpout TestWhatTheBreakerCounts"},
	31: {"queue/queuetest/world TestReview31_EntryOfADeletedList", "lists/store TestRow31SleeperOfADeletedList"},
	32: {"lists/store TestUncleanAfterALostHolder", "queue/queuetest/world TestPromise3_MistakenLock"},
}

// reproduced says the same of the public reproducers that are about hosts and crashes, by
// their numbers: locks that are left, updates in one second, crashes, syncs, torn files,
// the place at which a fan-out goes on, full disks, answers by recipient.
var reproduced = map[int][]string{
	40: {"locking/lockfile TestBug09_12_25_DeadOnThisHost", "locking/lockfile TestBug07_OtherHostsPid", "locking/lockfile TestBug24_32_TornRecord",
		"locking/lockfile TestBug14_15_28_LimitsByTheServersClock", "locking/lockfile TestBreak"},
	41: {"cmd/qrunner/e2e TestManyWriters"},
	42: {"cmd/qrunner/e2e TestKillAtCalls", "queue/queuetest/world TestPoisonThatKillsHosts", "cmd/qrunner/e2e TestTerm"},
	43: {"queue/spool TestPutSyncsBeforeItAnswers", "queue/spool TestFullDisk", "queue/queuetest/world TestTheWorldNotices"},
	44: {"cmd/qrunner/e2e TestDamagedEntries", "queue/spool TestDamagedEntries"},
	45: {"cmd/qrunner/e2e TestKillAnywhere", "cmd/qrunner/e2e TestTakeover", "cmd/qrunner/e2e TestTerm"},
	46: {"cmd/qrunner/e2e TestFullDisk", "queue/queuetest/world TestTenBadMinutes"},
	48: {"queue/intake TestDialogues", "queue/intake TestFaultsAreTemporary"},
}

// TestReviewIsCovered: each row names tests that are there.
func TestReviewIsCovered(t *testing.T) {
	root := os.DirFS("../../..")
	text := map[string]string{}
	rows := maps.Clone(reproduced)
	for row, tests := range reviewed[1:] {
		rows[row+1] = tests
	}
	for row, tests := range rows {
		if len(tests) == 0 {
			t.Errorf("row %d has no test", row)
		}
		for _, where := range tests {
			dir, name, _ := strings.Cut(where, " ")
			if text[dir] == "" {
				files, err := fs.Glob(root, dir+"/*_test.go")
				must(t, err)
				for _, f := range files {
					data, err := fs.ReadFile(root, f)
					must(t, err)
					text[dir] += string(data)
				}
			}
			if !strings.Contains(text[dir], "func "+name+"(") {
				t.Errorf("row %d: %s has no %s", row, dir, name)
			}
		}
	}
}

func TestReview04_NewListIsTakenAtOnce(t *testing.T) {
	for _, v := range []simfs.Version{simfs.V3, simfs.V42} {
		inWorld(t, Config{Server: simfs.Config{Version: v}}, func(t *testing.T, w *World) {
			ctx := t.Context()
			must(t, w.Start())
			if _, err := w.FS("a").Stat("lists/" + string(bee)); err == nil { // remembered as missing
				t.Fatal("the list is there already")
			}
			must(t, w.Create(ctx, "b", bee))
			must(t, w.Post(ctx, "a", LMTP, bee, 1))
			must(t, w.Post(ctx, "a", Pipe, bee, 2))
		})
	}
}

func TestReview09_10_FilesOfALargePost(t *testing.T) {
	most := 0
	c := Config{People: 300, Batch: 100, Copies: 1, Hosts: []string{"a"}, Settings: map[string]string{"verp_delivery_interval": "1"}}
	c.FS = func(_ string, f fsys.FS) fsys.FS {
		made := map[string]bool{}
		return fsys.Observed(f, fsys.Hook{After: func(op, name string, err error) error {
			if err == nil && strings.HasPrefix(name, "queue/out/") && (op == "dirlink" || op == "link" || op == "rename") {
				made[name] = true
				most = max(most, len(made))
			}
			return err
		}})
	}
	inWorld(t, c, func(t *testing.T, w *World) {
		must(t, w.Start())
		must(t, w.Post(t.Context(), "a", Pipe, ant, 1))
		w.Drain(t.Context(), time.Hour)
		w.Settle(t.Context())
		if most == 0 || most > 10 {
			t.Errorf("%d files for 300 transactions in three ranges", most)
		}
	})
}

func TestReview13_DeadHostIsTakenOverByTrying(t *testing.T) {
	inWorld(t, Config{}, func(t *testing.T, w *World) {
		ctx := t.Context()
		_, err := w.Hold(ctx, "b", ant)
		must(t, err)
		w.Crash("b")
		must(t, w.Start("a"))
		must(t, w.Post(ctx, "a", Pipe, ant, 1))
		time.Sleep(3 * time.Minute) // a lifetime, and some
		w.Settle(ctx)
	})
}

func TestReview20_CollidingListIDs(t *testing.T) {
	one, two := lists.ID("a.b@c.example.org"), lists.ID("a@b.c.example.org")
	if one.ListID() != two.ListID() {
		t.Fatal("the two do not collide")
	}
	inWorld(t, Config{Lists: []lists.ID{one, two}}, func(t *testing.T, w *World) {
		must(t, w.Start())
		must(t, w.Post(t.Context(), "a", Pipe, one, 1))
		must(t, w.Post(t.Context(), "b", Pipe, two, 2))
		w.Drain(t.Context(), time.Minute)
		w.Settle(t.Context())
	})
}

// A host sleeps in the middle of a range while the others end theirs: the post does not go
// to retry under its feet, and whatever it does when it wakes, nobody gets a copy
// twice but in the transaction that was in flight.
func TestReview25_RangeOfASleeper(t *testing.T) {
	for seed := range uint64(4) {
		c := Config{Seed: seed, People: 40, Poll: 2 * time.Second, Sink: queuetest.SinkConfig{Script: queuetest.Rules(
			queuetest.Rule{Phase: queue.PhaseRcpt, Arg: string(Person(ant, 33)), Times: 2, Action: queuetest.Action{Reply: "451 4.2.1 later"}},
			queuetest.Rule{Phase: queue.PhaseDot, Action: queuetest.Action{Wait: time.Second}})}}
		inWorld(t, c, func(t *testing.T, w *World) {
			ctx := t.Context()
			must(t, w.Start())
			must(t, w.Post(ctx, "a", Pipe, ant, 1))
			time.Sleep(time.Duration(2+seed) * 700 * time.Millisecond)
			w.FS("a").Pause()
			time.Sleep(20 * time.Minute)
			w.FS("a").Resume()
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
			if came, said := w.Repeats(); came > said {
				t.Errorf("%d repeats, %d announced", came, said)
			}
		})
	}
}

func TestReview27_SamePostOnTwoHosts(t *testing.T) {
	inWorld(t, Config{}, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Post(ctx, "a", Pipe, ant, 1))
		must(t, w.Post(ctx, "b", Pipe, ant, 1))
		must(t, w.Start())
		time.Sleep(time.Minute)
		must(t, w.Post(ctx, "b", LMTP, ant, 1)) // an MTA whose answer was lost an hour ago
		w.Drain(ctx, 10*time.Minute)
		w.Settle(ctx)
		if n := took(w, ant); n != 5 {
			t.Errorf("%d copies, want 5", n)
		}
	})
}

// The smarthost hangs up whenever one message comes: the others go out.
func TestReview30_MessageThatIsHungUpOn(t *testing.T) {
	var good atomic.Bool
	sink := queuetest.SinkConfig{Script: func(s queuetest.Step) queuetest.Action {
		return queuetest.Action{Close: s.Phase == queue.PhaseRcpt && s.Arg == string(Person(ant, 0)) && !good.Load()}
	}}
	inWorld(t, Config{Lists: []lists.ID{ant, bee}, Hosts: []string{"a"}, Sink: sink}, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Start())
		must(t, w.Post(ctx, "a", Pipe, ant, 1))
		for n := range 20 {
			must(t, w.Post(ctx, "a", Pipe, bee, n))
		}
		time.Sleep(time.Minute)
		if n := took(w, bee); n != 100 {
			t.Errorf("%d copies of other posts, want 100", n)
		}
		good.Store(true)
		w.Drain(ctx, 24*time.Hour)
		w.Settle(ctx)
	})
}

// An entry that was accepted while its list was deleted goes to shunt, and comes back when
// the list is there again.
func TestReview31_EntryOfADeletedList(t *testing.T) {
	inWorld(t, Config{Lists: []lists.ID{ant, bee}}, func(t *testing.T, w *World) {
		ctx := t.Context()
		must(t, w.Delete(ctx, "b", bee))
		must(t, w.Slip(ctx, "a", bee, 1)) // RCPT was answered before
		must(t, w.Start())
		time.Sleep(time.Minute)
		if len(w.Shunted()) != 1 {
			t.Errorf("parked: %v", w.Shunted())
		}
		must(t, w.Create(ctx, "a", bee))
		n, err := w.Replay(ctx, "b", bee)
		must(t, err)
		w.Drain(ctx, time.Hour)
		w.Settle(ctx)
		if n != 1 || took(w, bee) != 5 {
			t.Errorf("%d put back, %d copies", n, took(w, bee))
		}
	})
}

// believer is a lock that everybody gets: for lists it grants whatever is asked.
type believer struct{ locking.Locker }

func (b believer) TryLock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	if strings.HasPrefix(string(key), "out/") {
		return b.Locker.TryLock(ctx, key, m, opts...)
	}
	l := &belief{key: key}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	var err error
	if f := locking.Apply(opts).Fencer; f != nil {
		l.token, err = f.Fence(l.ctx)
	}
	return l, err
}

func (b believer) Lock(ctx context.Context, key locking.Key, m locking.Mode, opts ...locking.Option) (locking.Lease, error) {
	return b.TryLock(ctx, key, m, opts...)
}

type belief struct {
	key   locking.Key
	token locking.Token
	ctx   context.Context
	end   context.CancelCauseFunc
}

func (l *belief) Key() locking.Key             { return l.key }
func (l *belief) Token() locking.Token         { return l.token }
func (l *belief) Context() context.Context     { return l.ctx }
func (l *belief) Verify(context.Context) error { return context.Cause(l.ctx) }
func (l *belief) Unlock(context.Context) error {
	l.end(locking.ErrReleased)
	return nil
}

// TestPromise3_MistakenLock: the lock lets everybody in, always. At most one holder
// commits all the same, and nobody gets anything twice.
func TestPromise3_MistakenLock(t *testing.T) {
	for seed := range uint64(2) {
		c := Config{Seed: seed, Hosts: []string{"a", "b", "c"}, Gated: true, Server: simfs.Config{Latency: time.Millisecond}}
		c.Locker = func(_ string, l locking.Locker) locking.Locker { return believer{l} }
		if seed%2 == 0 {
			c.Server.Version = simfs.V3
		}
		inWorld(t, c, func(t *testing.T, w *World) {
			ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
			defer cancel()
			must(t, w.Start())
			w.Storm(ctx, Storm{Length: time.Minute, Posts: 12, Moves: 6})
			w.Drain(ctx, time.Hour)
			w.Settle(ctx)
		})
	}
}
