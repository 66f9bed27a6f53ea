package fanout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/locking"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// errMoved: the folder is not, or is no longer, what a claim could be made of. Its
// next owner sees to it; nobody is told.
var errMoved = errors.New("fan-out has moved on")

// unit is a fan-out in out/.
type unit struct {
	list lists.ID
	id   queue.ID
}

func (u unit) dir() string { return "queue/out/" + string(u.list) + "/" + string(u.id) }

func (u unit) key(rng string) locking.Key { return locking.Key("out/" + string(u.id) + "/" + rng) }

// claim is the right to work on one range of a fan-out (or to close its round), and
// what is known of it. Its folder's descriptor stays good when the folder moves.
type claim struct {
	s     *Sender
	unit  unit
	rng   string
	lease locking.Lease
	dir   fsys.Dir
	view  *view
	j     *journal
	n     int // the journal's number

	fan   *queue.Fanout
	all   *spool.Recipients
	rcpts []lists.Recipient // of the range
	raw   []byte            // for the wire
	utf8  bool              // its header needs SMTPUTF8
	own   queue.Copier      // nil: all get raw
	xverp bool              // the smarthost makes VERP senders
	msgid string
	tally *tally

	mu   sync.Mutex
	news []record   // results of this claim that tally does not know yet
	last queue.Conn // the connection of the last transaction, until its results are durable
}

// take makes a claim, after a look at the folder. It fails with locking.ErrHeld or errMoved in the course of
// things; a claim that was made must be given up with drop.
func (s *Sender) take(ctx context.Context, u unit, rng string, seen *view) (*claim, error) {
	lease, err := s.c.Locker.TryLock(ctx, u.key(rng), locking.Exclusive,
		locking.WithLifetime(s.c.Lifetime), locking.WithNote("delivers "+string(u.list)+"/"+string(u.id)+" range "+rng))
	if err != nil {
		return nil, err
	}
	c := &claim{s: s, unit: u, rng: rng, lease: lease}
	if err := c.enter(lease.Context(), seen); err != nil {
		c.drop(ctx, "withdrawn: "+err.Error())
		return nil, err
	}
	return c, nil
}

// enter does what stands behind the lease: the journal by put-if-absent, then a
// look at the lease, then a listing.
func (c *claim) enter(ctx context.Context, seen *view) error {
	var err error
	if c.dir, err = c.s.c.FS.OpenDir(c.unit.dir()); err != nil {
		return moved(err)
	}
	if err := c.open(seen); err != nil {
		return moved(err)
	}
	if err := c.lease.Verify(ctx); err != nil {
		return err
	}
	if c.view, err = readView(c.dir); err != nil {
		return moved(err)
	}
	if v := c.view; v.finished || v.over || !v.recipients || v.round != seen.round || !v.whole(c.rng, c.n) {
		return errMoved
	}
	return nil
}

// moved turns "not there" into errMoved.
func moved(err error) error {
	if fsys.Gone(err) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// fenceTries bounds how often a journal number may turn out to be taken: by a
// listing that was stale, or by a sleeper.
const fenceTries = 4

// open makes the journal with the number after the last one seen. Its name and its
// first line are synced with the lines that follow.
func (c *claim) open(seen *view) error {
	file, private, _, err := c.s.create("journal." + string(c.unit.id) + "." + c.rng)
	if err != nil {
		return err
	}
	defer func() { _ = fsys.RemoveAny(c.s.c.FS, private) }()
	if _, err := file.Write(c.first(seen.round).append(nil)); err != nil {
		_ = file.Close()
		return err
	}
	last := seen.last(c.rng)
	for range fenceTries {
		name := journalName(c.rng, last+1)
		if err = c.link(private, name); err == nil {
			c.n = last + 1
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		v, lerr := readView(c.dir) // fresh: our link onto the name has just failed
		if lerr != nil {
			err = lerr
			break
		}
		last = max(last+1, v.last(c.rng))
	}
	if err != nil {
		_ = file.Close()
		return fmt.Errorf("open journal of range %s: %w", c.rng, err)
	}
	named := make(chan error, 1)
	go func() { named <- c.dir.Sync() }()
	c.j = newJournal(file, c.unit.dir()+"/"+journalName(c.rng, c.n), named, c.lease.Verify)
	return nil
}

// link gives a private file its name in the folder. After an error the file's own link
// count says whether it has the name: a listing may be as old as the server's last tick.
func (c *claim) link(private, name string) error {
	err := c.dir.Link(private, name)
	if err == nil {
		return nil
	}
	if _, st, serr := fsys.ServerNow(c.s.c.FS, private); serr == nil && st.Nlink > 1 {
		return nil
	}
	return err
}

// first is the journal's first line.
func (c *claim) first(round int) record {
	return record{kind: begin, round: round, count: c.s.c.BatchSize, when: c.s.time.now(),
		text: string(c.unit.id) + " " + c.rng + " " + c.s.c.Host}
}

// drop gives the claim up. why, unless the range was ended, tells a successor that
// nothing is in flight.
func (c *claim) drop(ctx context.Context, why string) {
	if c.j != nil {
		owes := why != "" && c.j.commit(record{kind: quit, text: why}) != nil
		_ = c.j.close()
		if owes {
			c.s.owe(c.j.name, why)
		}
	}
	if c.dir != nil {
		_ = c.dir.Close()
	}
	if err := c.lease.Unlock(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, locking.ErrLost) {
		c.log(ctx, slog.LevelWarn, "release claim", "err", err)
	}
}

// log adds whose claim it is.
func (c *claim) log(ctx context.Context, level slog.Level, msg string, args ...any) {
	c.s.c.Log.Log(ctx, level, msg, append([]any{"list", c.unit.list, "entry", c.unit.id, "lease", c.lease.Key()}, args...)...)
}

// load reads what the range's work needs: its journals and its recipients.
func (c *claim) load(ctx context.Context, fan *queue.Fanout, all *spool.Recipients) error {
	c.fan, c.all = fan, all
	var err error
	c.tally, c.rcpts, err = c.read(ctx, c.rng)
	return err
}

// read reads the recipients of a range and what its journals, but for our own, say
// of them. The closing range has no recipients.
func (c *claim) read(ctx context.Context, rng string) (*tally, []lists.Recipient, error) {
	size := c.s.c.BatchSize
	t := newTally(0, 0)
	if i := number(rng); rng != closing {
		t = newTally(min(i*size, c.all.Len()), min((i+1)*size, c.all.Len()))
	}
	for _, n := range c.view.journals[rng] {
		if n == c.n && rng == c.rng {
			continue
		}
		name := c.unit.dir() + "/" + journalName(rng, n)
		records, bad, err := readJournal(c.s.c.FS, name)
		if err != nil {
			return nil, nil, moved(err)
		}
		if bad > 0 {
			c.log(ctx, slog.LevelInfo, "torn lines in journal", "err", fmt.Errorf("%w: %d in %s", errLine, bad, name))
		}
		t.journal(records, c.view.round, size)
	}
	if t.foreign != 0 {
		return nil, nil, fmt.Errorf("range %s was begun with batches of %d, here they are of %d", rng, t.foreign, size)
	}
	if t.from == t.to {
		return t, nil, nil
	}
	rcpts, err := c.all.Range(ctx, t.from, t.to)
	return t, rcpts, moved(err)
}

// rcpt is recipient n of the fan-out.
func (c *claim) rcpt(n int) lists.Recipient { return c.rcpts[n-c.tally.from] }

// slack is how long before its time a recipient may be tried, so that those who
// failed a few minutes apart share a round.
func (c *claim) slack() time.Duration {
	wait, _ := c.s.c.Policy.Next(1, 0, 0)
	return wait
}
