package fanout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"qrunner/locking/fsys"
)

// journal is the open journal of a claim, appended by its owner alone. Commits of
// all connections are written, synced and followed by a look at the claim together.
type journal struct {
	file   fsys.File
	name   string       // from the share's root, for messages
	named  <-chan error // the sync of its name, which the first commit waits for
	verify func(context.Context) error
	in     chan commit
	done   chan struct{}
}

type commit struct {
	lines  []byte
	answer chan error
}

// waiting is how many commits may queue up behind a sync without blocking.
const waiting = 64

// newJournal takes over file, which nobody else writes to. named gives the result of
// the sync of its name, which may go on beside the first sync of its content; verify
// is asked after each sync whether the claim is still ours.
func newJournal(file fsys.File, name string, named <-chan error, verify func(context.Context) error) *journal {
	j := &journal{file: file, name: name, named: named, verify: verify, in: make(chan commit, waiting), done: make(chan struct{})}
	go j.run()
	return j
}

// commit returns when the records are on stable storage and the claim was seen to
// be ours after that. After an error nothing more is written: a journal may end in a
// torn line, but has none in the middle. ErrLost (wrapped) means that the records
// are safe and the claim is not.
func (j *journal) commit(records ...record) error {
	c := commit{answer: make(chan error, 1)}
	for _, r := range records {
		c.lines = r.append(c.lines)
	}
	j.in <- c
	return <-c.answer
}

// close waits for what is under way. No commit may follow.
func (j *journal) close() error {
	close(j.in)
	<-j.done
	if j.named != nil {
		<-j.named
	}
	return j.file.Close()
}

func (j *journal) run() {
	defer close(j.done)
	var failed error
	for c := range j.in {
		group := j.gather(c)
		if failed == nil {
			failed = j.write(group)
		}
		for _, c := range group {
			c.answer <- failed
		}
	}
}

// gather takes whatever else waits already.
func (j *journal) gather(first commit) []commit {
	group := []commit{first}
	for {
		select {
		case c, ok := <-j.in:
			if !ok {
				return group
			}
			group = append(group, c)
		default:
			return group
		}
	}
}

func (j *journal) write(group []commit) error {
	lines := group[0].lines
	for _, c := range group[1:] {
		lines = append(lines, c.lines...)
	}
	if _, err := j.file.Write(lines); err != nil {
		return fmt.Errorf("append to %s: %w", j.name, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", j.name, err)
	}
	if j.named != nil {
		err := <-j.named
		if j.named = nil; err != nil {
			return fmt.Errorf("sync name of %s: %w", j.name, err)
		}
	}
	if err := j.verify(context.Background()); err != nil {
		return fmt.Errorf("verify claim of %s: %w", j.name, err)
	}
	return nil
}

// maxJournal bounds what is read of a journal: a range of 1,000 recipients, each with
// dozens of long replies, is far below it.
const maxJournal = 64 << 20

// readJournal reads a journal of anybody.
func readJournal(f fsys.FS, name string) ([]record, int, error) {
	data, err := fsys.ReadFile(f, name, maxJournal)
	if err != nil {
		return nil, 0, err
	}
	records, bad := parseJournal(data)
	return records, bad, nil
}

// rangeEnd finds the end record of a range in the round in force, in whichever of its
// journals: one that was opened behind the end, by a host that saw it too late and
// withdrew, has none.
func (s *Sender) rangeEnd(u unit, v *view, rng string) (record, bool, error) {
	for _, n := range slices.Backward(v.journals[rng]) {
		end, ok, err := readEnd(s.c.FS, u.dir()+"/"+journalName(rng, n))
		if err != nil {
			return record{}, false, moved(err)
		}
		if ok && end.round == v.round {
			return end, true, nil
		}
	}
	return record{}, false, nil
}

// tailSize is enough for the last line of a journal that was ended.
const tailSize = 256

// readEnd reads only the last line of a journal. It reports false if that is no end
// record: the range is being worked on, or its owner died.
func readEnd(f fsys.FS, name string) (record, bool, error) {
	r, err := f.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return record{}, false, err
	}
	defer r.Close()
	st, err := r.Stat()
	if err != nil {
		return record{}, false, err
	}
	buf := make([]byte, min(st.Size, tailSize))
	if len(buf) == 0 {
		return record{}, false, nil
	}
	if n, err := r.ReadAt(buf, st.Size-int64(len(buf))); n < len(buf) {
		return record{}, false, errors.Join(err, fmt.Errorf("short read of %s", name))
	}
	records, _ := parseJournal(buf)
	if len(records) == 0 || records[len(records)-1].kind != ended || buf[len(buf)-1] != '\n' {
		return record{}, false, nil
	}
	return records[len(records)-1], true, nil
}
