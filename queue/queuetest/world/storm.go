package world

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/simfs"
)

// Storm is a stretch of time in which posts come, members come and go, and things
// break, all drawn from the World's seed. The zero value breaks nothing.
type Storm struct {
	// Length is how long it lasts (default 3 min), Posts and Moves how many posts and
	// changes of rosters there are.
	Length       time.Duration
	Posts, Moves int
	// Accepts is how often the administrator lets the held posts of a list pass.
	Accepts int
	// How often a host loses its power (at any time, and before or after one of its
	// calls), is paused, cut off, cannot hear the server, has its clock set; how
	// often the server is started again, how often the share refuses calls or loses
	// answers for a while, and how often the server (PowerCuts) or everything
	// (Blackouts) loses its power with what nobody synced.
	Crashes, CallCrashes, Pauses, Cuts, Mutes, Clocks, Restarts, Faults, PowerCuts, Blackouts int
}

// trouble is one thing that breaks and is mended again.
type trouble struct {
	name string
	do   func(ctx context.Context, host string, d time.Duration)
}

// Storm lets it happen, mends everything, starts all hosts, and returns when all clients
// have been answered.
func (w *World) Storm(ctx context.Context, s Storm) {
	if s.Length == 0 {
		s.Length = 3 * time.Minute
	}
	var wg sync.WaitGroup
	at := func(span time.Duration, f func()) {
		when := time.Duration(w.rng.Int64N(int64(span)))
		wg.Go(func() {
			sleep(ctx, when)
			f()
		})
	}
	for n := range s.Posts {
		l, via := w.anyList(), []string{Pipe, LMTP}[w.rng.IntN(2)]
		at(s.Length, func() { _ = w.Insist(ctx, via, l, 1000+n) })
	}
	for n := range s.Moves {
		at(s.Length, w.move(ctx, n))
	}
	for range s.Accepts {
		l, host := w.anyList(), w.c.Hosts[w.rng.IntN(len(w.c.Hosts))]
		at(s.Length, func() { _, _ = w.Accept(ctx, host, l) })
	}
	for _, k := range s.kinds(w) {
		for range k.times {
			host := w.c.Hosts[w.rng.IntN(len(w.c.Hosts))]
			d := time.Duration(1+w.rng.IntN(100)) * time.Second
			at(s.Length, func() {
				w.Log.add(slog.LevelInfo, host, fmt.Sprintf("STORM %s for %v", k.name, d))
				k.do(ctx, host, d)
			})
		}
	}
	watch, stop := context.WithCancel(ctx)
	wg.Go(func() { w.Run(watch, time.Hour) })
	sleep(ctx, s.Length)
	w.Mend()
	w.keepUp(ctx)
	stop()
	wg.Wait()
	w.Mend()
	if err := w.Start(); err != nil {
		w.book.broken("%v", err)
	}
}

// keepUp restarts what falls until every client is answered.
func (w *World) keepUp(ctx context.Context) {
	for range 360 {
		if err := w.Start(); err != nil {
			w.book.broken("%v", err)
		}
		sleep(ctx, 5*time.Second)
		if len(w.book.waiting()) == 0 {
			return
		}
	}
}

func (w *World) anyList() lists.ID { return w.c.Lists[w.rng.IntN(len(w.c.Lists))] }

// move is somebody who joins or leaves.
func (w *World) move(ctx context.Context, n int) func() {
	l, host := w.anyList(), w.c.Hosts[w.rng.IntN(len(w.c.Hosts))]
	if w.rng.IntN(2) == 0 {
		a := mailaddr.Address(fmt.Sprintf("new%d@people.example.org", n))
		return func() { _ = w.Join(ctx, host, l, a) }
	}
	a := Person(l, w.rng.IntN(w.c.People))
	return func() { _ = w.Leave(ctx, host, l, a) }
}

// Mend ends all faults, partitions and pauses, and puts the clocks right.
func (w *World) Mend() {
	w.Server.Heal()
	w.Server.Restart(true)
	for _, n := range w.c.Hosts {
		h := w.Server.Host(n)
		h.Resume()
		h.Heal()
		h.SetClock(0)
	}
}

type kind struct {
	trouble
	times int
}

// kinds are the troubles of a storm.
func (s Storm) kinds(w *World) []kind {
	on := func(name string, times int, do func(ctx context.Context, host string, d time.Duration)) kind {
		return kind{trouble{name, do}, times}
	}
	return []kind{
		on("power cut", s.Crashes, func(ctx context.Context, host string, d time.Duration) {
			w.Crash(host)
			w.reboot(ctx, host, d)
		}),
		on("power cut at a call", s.CallCrashes, w.crashAtCall),
		on("pause", s.Pauses, func(ctx context.Context, host string, d time.Duration) {
			h := w.FS(host)
			h.Pause()
			sleep(ctx, 2*d) // longer than a lease, often
			h.Resume()
		}),
		on("cut off", s.Cuts, func(ctx context.Context, host string, d time.Duration) {
			h := w.FS(host)
			h.Partition()
			sleep(ctx, 2*d)
			h.Heal()
		}),
		on("deaf", s.Mutes, func(ctx context.Context, host string, d time.Duration) {
			h := w.FS(host)
			h.Mute()
			sleep(ctx, d/4)
			h.Heal()
		}),
		on("clock", s.Clocks, func(ctx context.Context, host string, d time.Duration) {
			h := w.FS(host)
			h.SetClock((d - 50*time.Second) * 100)
			sleep(ctx, d)
			h.SetClock(0)
		}),
		on("server down", s.Restarts, func(ctx context.Context, host string, d time.Duration) {
			w.Server.Stop()
			sleep(ctx, d/2)
			w.Server.Restart(d%(2*time.Second) == 0)
		}),
		on("share in trouble", s.Faults, w.ill),
		on("power cut of the server", s.PowerCuts, func(context.Context, string, time.Duration) { w.Server.PowerCut() }),
		on("blackout", s.Blackouts, func(ctx context.Context, _ string, d time.Duration) {
			w.Crash(w.c.Hosts...)
			w.Server.PowerCut()
			sleep(ctx, d/4)
			w.reboot(ctx, w.c.Hosts[0], d/4)
		}),
	}
}

// reboot starts a host again, some time after it died.
func (w *World) reboot(ctx context.Context, host string, d time.Duration) {
	sleep(ctx, d)
	if err := w.Start(host); err != nil {
		w.book.broken("%v", err)
	}
}

// crashAtCall lets the host die before or after one of its next calls.
func (w *World) crashAtCall(ctx context.Context, host string, d time.Duration) {
	h := w.FS(host)
	kind := simfs.CrashBefore
	if d%(2*time.Second) == 0 {
		kind = simfs.CrashAfter
	}
	w.Server.Inject(simfs.Fault{Host: host, Op: stormOps[int(d.Seconds())%len(stormOps)], Nth: 1 + int(d.Seconds())%7, Kind: kind})
	select {
	case <-h.Context().Done():
		w.bury(host)
		w.reboot(ctx, host, d/4)
	case <-time.After(d):
	}
}

// stormOps are calls that change something.
var stormOps = []string{"link", "rename", "remove", "mkdir", "write", "sync", "dirlink", "dirrename", "open", "touch", "syncdir", "close"}

// stormErrnos are what a share in trouble answers.
var stormErrnos = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ESTALE, syscall.EROFS, syscall.EACCES}

// ill makes some calls of all hosts go wrong for a while, in one way.
func (w *World) ill(ctx context.Context, _ string, d time.Duration) {
	n := int(d.Seconds())
	f := simfs.Fault{Op: stormOps[n%len(stormOps)], Chance: 0.2, Kind: simfs.Refuse, Errno: stormErrnos[n%len(stormErrnos)]}
	switch n % 4 {
	case 0:
		f.Op, f.Kind = "", simfs.LostAnswer
	case 1:
		f.Op, f.Kind, f.Chance = "", simfs.DoneButError, 0.05
	case 2:
		f.Op, f.Chance = "", 0.1
	}
	w.Server.Inject(f)
	sleep(ctx, d)
	w.Server.Heal()
}
