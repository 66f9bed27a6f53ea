package fanout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/retry"
)

var samples = []record{
	{kind: begin, round: 2, count: 1000, when: time.Unix(1700000000, 0), text: "id 000001 host"},
	{kind: start, set: makeSet(0, 1, 2, 7)},
	{kind: sent, set: makeSet(5), reply: queue.Reply{Code: 250, Enhanced: "2.0.0", Text: "ok \"queued\" as 1", Phase: queue.PhaseDot}},
	{kind: refused, set: makeSet(5, 6), reply: queue.Reply{Code: 550, Text: "nein, Größe\x00\n", Phase: queue.PhaseRcpt}},
	{kind: deferred, set: makeSet(9), class: retry.Defer, when: time.Unix(1, 0), due: time.Unix(301, 0), reply: queue.Reply{Phase: queue.PhaseDot}},
	{kind: left, set: makeSet(3)},
	{kind: child, text: "bounces/ant@example.com/x"},
	{kind: ended, round: 1, count: 3, stuck: 1, told: 2, due: time.Unix(301, 0)},
	{kind: ended, round: 1},
	{kind: quit, text: ""},
	{kind: trouble, text: "no space left"},
	{kind: wait, due: time.Unix(9, 0), text: "ant@example.com"},
	{kind: park, text: "three"},
}

func TestRecordsComeBack(t *testing.T) {
	var data []byte
	for _, r := range samples {
		data = r.append(data)
	}
	got, bad := parseJournal(data)
	if diff := cmp.Diff(samples, got, cmp.AllowUnexported(record{}, span{})); diff != "" || bad > 0 {
		t.Errorf("%d bad lines; -want +got:\n%s", bad, diff)
	}
	for cut := range data {
		got, _ := parseJournal(data[:cut])
		if n := strings.Count(string(data[:cut]), "\n"); len(got) != n {
			t.Fatalf("cut at %d: %d records, %d whole lines", cut, len(got), n)
		}
	}
	data[len(data)/2] ^= 1
	if got, bad := parseJournal(data); len(got) != len(samples)-1 || bad != 1 {
		t.Errorf("a flipped bit: %d records, %d bad", len(got), bad)
	}
}

func TestParseSetRefuses(t *testing.T) {
	for _, s := range []string{"", ",", "1,", "2-1", "1-1", "3,2", "1-3,3", "-1", "a", "1--2", "99999999999"} {
		if got, err := parseSet(s); err == nil {
			t.Errorf("parseSet(%q) = %v", s, got)
		}
	}
}

func FuzzRecord(f *testing.F) {
	for _, r := range samples {
		f.Add(strings.TrimSuffix(string(r.append(nil)), "\n"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := parseRecord(line)
		if err != nil {
			// The same text under its right sum must not do harm either.
			r, err = parseRecord(resum(line))
		}
		if err != nil {
			return
		}
		again, err := parseRecord(strings.TrimSuffix(string(r.append(nil)), "\n"))
		if err != nil {
			t.Fatalf("%+v does not come back: %v", r, err)
		}
		if len(r.text) <= maxText && len(r.reply.Text) <= maxText {
			if diff := cmp.Diff(r, again, cmp.AllowUnexported(record{}, span{})); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func resum(line string) string {
	r := record{kind: "x"}
	if len(line) < 9 {
		return string(r.append(nil))
	}
	return sum(line[9:]) + " " + line[9:]
}

func TestTally(t *testing.T) {
	later := time.Unix(5000, 0)
	first := []record{
		{kind: begin, round: 1, count: 10},
		{kind: start, set: makeSet(10, 11, 12, 13, 14, 15, 16)},
		{kind: sent, set: makeSet(10)},
		{kind: deferred, set: makeSet(11), when: time.Unix(1, 0), due: later, reply: queue.Reply{Code: 450, Phase: queue.PhaseRcpt}},
		{kind: refused, set: makeSet(12)},
		{kind: left, set: makeSet(13)},
	}
	second := []record{ // a sleeper's late lines
		{kind: begin, round: 1, count: 10},
		{kind: deferred, set: makeSet(10), due: later, reply: queue.Reply{Code: 450, Phase: queue.PhaseRcpt}},
		{kind: refused, set: makeSet(13)},
	}
	for round, open := range map[int]string{1: "[14 15 16 17 18 19]", 2: "[11 14 15 16 17 18 19]"} {
		tl := newTally(10, 20)
		tl.journal(first, round, 10)
		tl.journal(second, round, 10)
		if got := fmt.Sprint(tl.open(later)); got != open {
			t.Errorf("round %d: open %s, want %s", round, got, open)
		}
		if got := fmt.Sprint(tl.open(later.Add(-time.Second))); got != "[14 15 16 17 18 19]" {
			t.Errorf("round %d, before the time: open %s", round, got)
		}
		if p := tl.at(10); p.closed != sent || tl.at(13).closed != left || !tl.at(14).doubt || tl.at(17).doubt || tl.at(11).tries != 1 {
			t.Errorf("round %d: %+v", round, tl.rcpt)
		}
	}
	tl := newTally(0, 10)
	if tl.journal([]record{{kind: begin, count: 500}}, 1, 10); tl.foreign != 500 {
		t.Error("another host's batch size goes unnoticed")
	}
}

// gated is a file whose Sync waits for a word.
type gated struct {
	fsys.File
	word  chan struct{}
	syncs atomic.Int32
	lines atomic.Int32
}

func (g *gated) Write(p []byte) (int, error) {
	g.lines.Add(int32(strings.Count(string(p), "\n")))
	return len(p), nil
}
func (g *gated) Sync() error  { <-g.word; g.syncs.Add(1); return nil }
func (g *gated) Close() error { return nil }

func TestOneSyncServesAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gated{word: make(chan struct{})}
		named := make(chan error, 1)
		lost := false
		j := newJournal(g, "j", named, func(context.Context) error {
			if lost {
				return locking.ErrLost
			}
			return nil
		})
		var safe atomic.Int32
		for i := range 20 {
			go func() {
				if j.commit(record{kind: sent, set: makeSet(i)}) == nil {
					safe.Add(1)
				}
			}()
			synctest.Wait() // the first is in its sync, the others wait
		}
		g.word <- struct{}{}
		synctest.Wait()
		if safe.Load() != 0 {
			t.Error("a result is safe before the journal's name is")
		}
		named <- nil
		synctest.Wait()
		if safe.Load() != 1 {
			t.Errorf("%d results safe after the first sync", safe.Load())
		}
		g.word <- struct{}{}
		synctest.Wait()
		if safe.Load() != 20 || g.syncs.Load() != 2 || g.lines.Load() != 20 {
			t.Errorf("%d results, %d syncs, %d lines", safe.Load(), g.syncs.Load(), g.lines.Load())
		}
		lost = true
		go func() { g.word <- struct{}{} }()
		if err := j.commit(record{kind: quit}); !errors.Is(err, locking.ErrLost) {
			t.Errorf("commit under a lost claim: %v", err)
		}
		if err := j.commit(record{kind: quit}); err == nil || g.lines.Load() != 21 {
			t.Error("written after an error")
		}
		_ = j.close()
	})
}
