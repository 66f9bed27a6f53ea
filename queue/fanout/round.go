package fanout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// close ends a round all of whose ranges have ended: the owner's report first, then
// the mark that decides where the folder goes, then the move.
func (c *claim) close(ctx context.Context, ends []record) error {
	var sum record
	for _, e := range ends {
		sum.count += e.count
		sum.stuck += e.stuck
		sum.told += e.told
		sum.due = earliest(sum.due, e.due)
	}
	if sum.told > 0 {
		if err := c.report(ctx, ends, sum.told); err != nil {
			return err
		}
	}
	var err error
	switch {
	case sum.count == 0:
		err = markLink(c.dir, c.j.name, finishedMark)
	case sum.count == sum.stuck:
		err = mark(c.s.c.FS, c.dir, roundName(c.view.round), record{kind: park, text: "the smarthost has refused this mail for too long"})
	default:
		err = mark(c.s.c.FS, c.dir, roundName(c.view.round), record{kind: wait, due: sum.due, text: string(c.unit.list)})
	}
	return moved(err)
}

// mark makes the mark name in an open folder unless it is there already: whoever
// came first has decided. The name is on stable storage when it returns nil.
func mark(f fsys.FS, d fsys.Dir, name string, r record) error {
	private := fmt.Sprintf("%s/mark.%016x%016x", tmpDir, rand.Uint64(), rand.Uint64())
	write := func() error {
		return fsys.WriteNew(f, private, func(w io.Writer) error { _, err := w.Write(r.append(nil)); return err })
	}
	err := write()
	if fsys.Gone(err) {
		if err = fsys.MkdirAll(f, tmpDir); err == nil {
			err = write()
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = fsys.RemoveAny(f, private) }()
	return markLink(d, private, name)
}

// markLink makes a mark of any file: its content is not read.
func markLink(d fsys.Dir, file, name string) error {
	err := d.Link(file, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		list, lerr := d.ReadDir()
		if lerr != nil {
			return err
		}
		if _, ok := fsys.Find(list, name); !ok {
			return err
		}
	}
	return d.Sync()
}

// readMark reads the mark of a round that is over. Marks are never replaced.
func (s *Sender) readMark(dir string, round int) (record, error) {
	records, _, err := readJournal(s.c.FS, dir+"/"+roundName(round))
	if err != nil {
		return record{}, moved(err)
	}
	if len(records) != 1 || (records[0].kind != wait && records[0].kind != park) {
		return record{}, fmt.Errorf("mark %s/%s: %w", dir, roundName(round), errLine)
	}
	return records[0], nil
}

// carryOut moves a folder in out/ to where its mark says. Any number of hosts may
// do so at once, or late.
func (s *Sender) carryOut(ctx context.Context, u unit, v *view) error {
	if v.finished {
		return s.finish(ctx, u.dir(), u.id)
	}
	m, err := s.readMark(u.dir(), v.round)
	if err != nil {
		return err
	}
	to := "queue/" + string(queue.Retry) + "/" + spool.RetryName(m.due, u.id)
	if m.kind == park {
		to = "queue/" + string(queue.Shunt) + "/" + string(u.list) + "/" + string(u.id)
		s.c.Log.ErrorContext(ctx, "fan-out goes to shunt", "list", u.list, "entry", u.id, "err", errors.New(m.text))
	}
	return rename(s.c.FS, u.dir(), to)
}

// rename moves a folder. A source that is not there was moved by another host.
func rename(f fsys.FS, from, to string) error {
	err := f.Rename(from, to)
	if !fsys.Gone(err) {
		return err
	}
	if err := fsys.MkdirAll(f, path.Dir(to)); err != nil {
		return err
	}
	if err = f.Rename(from, to); fsys.Gone(err) {
		return nil
	}
	return err
}

// Park sends a fan-out to shunt/ with a cause, from wherever its deliveries are, for
// `list delete --discard` and the like. What has been journaled is kept: Reopen lets
// it go on. A folder that is not in out/ (any more) is fs.ErrNotExist.
func Park(f fsys.FS, list lists.ID, id queue.ID, cause string) error {
	u := unit{list, id}
	d, err := f.OpenDir(u.dir())
	if err != nil {
		return err
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return err
	}
	if !v.over && !v.finished {
		return mark(f, d, roundName(v.round), record{kind: park, text: cause})
	}
	return nil
}

// ParkWaiting sends a fan-out that waits under name in retry/ to shunt/. One that was
// picked up meanwhile is no error: Park it then.
func ParkWaiting(f fsys.FS, name string, list lists.ID, id queue.ID) error {
	return rename(f, "queue/"+string(queue.Retry)+"/"+name, "queue/"+string(queue.Shunt)+"/"+string(list)+"/"+string(id))
}

// parkNow parks a fan-out and carries it out.
func (s *Sender) parkNow(ctx context.Context, u unit, cause string) error {
	if err := Park(s.c.FS, u.list, u.id, cause); err != nil {
		return moved(err)
	}
	v, err := s.look(u)
	if errors.Is(err, errMoved) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.carryOut(ctx, u, v)
}

// pickUp brings a fan-out that is due back into out/, by whoever comes first.
func (s *Sender) pickUp(ctx context.Context, name string, id queue.ID) error {
	dir := "queue/" + string(queue.Retry) + "/" + name
	d, err := s.c.FS.OpenDir(dir)
	if err != nil {
		return moved(err)
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return moved(err)
	}
	if v.finished {
		return s.finish(ctx, dir, id)
	}
	// The last mark tells the list, also when a sleeper put an open round here.
	round := v.round
	if !v.over {
		round--
	}
	m, err := s.readMark(dir, round)
	if err != nil {
		return err
	}
	if v.over {
		if err := markLink(d, dir+"/"+roundName(round), openName(round+1)); err != nil {
			return moved(err)
		}
	}
	return rename(s.c.FS, dir, "queue/"+string(queue.Out)+"/"+m.text+"/"+string(id))
}

// Parked is what is known of a fan-out in shunt/.
type Parked struct {
	Round int    // how often it was begun, from 1
	Cause string // why it lies there; "" where nothing in it says so
}

// ReadParked says why a fan-out is in shunt/. It reads neither message nor recipients,
// which may be what is damaged. A folder that is not there is fs.ErrNotExist.
func ReadParked(f fsys.FS, list lists.ID, id queue.ID) (Parked, error) {
	dir := "queue/" + string(queue.Shunt) + "/" + string(list) + "/" + string(id)
	d, err := f.OpenDir(dir)
	if err != nil {
		return Parked{}, err
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return Parked{}, err
	}
	p := Parked{Round: v.round}
	if !v.over {
		return p, nil
	}
	records, _, err := readJournal(f, dir+"/"+roundName(v.round))
	if err == nil && len(records) == 1 && records[0].kind == park {
		p.Cause = records[0].text
	}
	return p, err
}

// Reopen lets a fan-out in shunt/ go on where it stopped, for `shunt replay`: a new
// round begins, and its folder goes back to out/ under its own name, since the
// claims of a sleeper are keyed by it. A folder that is not there is fs.ErrNotExist.
func Reopen(f fsys.FS, list lists.ID, id queue.ID) error {
	below := "/" + string(list) + "/" + string(id)
	dir := "queue/" + string(queue.Shunt) + below
	d, err := f.OpenDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	v, err := readView(d)
	if err != nil {
		return err
	}
	if v.over {
		if err := markLink(d, dir+"/"+roundName(v.round), openName(v.round+1)); err != nil {
			return err
		}
	}
	return rename(f, dir, "queue/"+string(queue.Out)+below)
}
