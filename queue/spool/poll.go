package spool

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// On NFS v3 a listing can hide a name for ever: two names made within one tick of
// the server's clock leave the folder's time as it was, and a client that listed
// the folder in between believes its cache. Changing the folder's time heals it.
const (
	// settle is how long after a change a queue's folder is touched before it is listed.
	settle = 2 * time.Second
	// healEvery is how often a queue's folder is touched though nothing changed.
	healEvery = 30 * time.Second
)

// poll is what the last walks of a queue saw. Changes are known by the names, not
// by the folder's time: that changes by the touches of other hosts' pollers too,
// which would then never stop answering each other.
type poll struct {
	names     []string
	unsettled time.Time // touch before each listing until then
	heal      time.Time // touch when this is past
	odd       map[string]bool
}

// Lists is the poller's walk: the lists that have a folder in queue q. An idle call
// costs one listing, and a touch every 30 seconds.
func (s *Spool) Lists(ctx context.Context, q queue.Name) ([]lists.ID, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("poll queue %s: %w", q, err)
	}
	now := time.Now()
	names, err := s.listRoot(q, s.wantsTouch(q, now))
	if err != nil {
		return nil, fmt.Errorf("poll queue %s: %w", q, err)
	}
	s.noteChange(q, names, now)
	return s.parseLists(ctx, q, names), nil
}

// listRoot lists a queue's folder; one that was never made is empty. That it is not
// there may be a client's memory from before another host made it, and on v3 last for
// ever: an attempt to make it heals that.
func (s *Spool) listRoot(q queue.Name, touch bool) ([]string, error) {
	name := path.Join(root, string(q))
	if touch {
		err := s.c.FS.Touch(name)
		if fsys.Gone(err) {
			err = fsys.MkdirAll(s.c.FS, name)
		}
		if err != nil {
			return nil, err
		}
	}
	all, err := s.c.FS.ReadDir(name)
	if err != nil && !fsys.Gone(err) {
		return nil, err
	}
	var out []string
	for _, e := range all {
		if e.Type == 0 || e.Type == fs.ModeDir { // 0: unknown, or a file
			out = append(out, e.Name)
		}
	}
	return out, nil
}

func (s *Spool) wantsTouch(q queue.Name, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.polls[q]
	if p == nil {
		p = &poll{odd: map[string]bool{}}
		s.polls[q] = p
	}
	if !now.Before(p.unsettled) && now.Before(p.heal) {
		return false
	}
	p.heal = now.Add(healEvery)
	return true
}

// noteChange remembers what a listing showed, and when it was news.
func (s *Spool) noteChange(q queue.Name, names []string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.polls[q]; !slices.Equal(p.names, names) {
		p.names, p.unsettled = names, now.Add(settle)
	}
}

// parseLists takes the lists out of a listing. What is no list's name is logged the
// first time and left alone.
func (s *Spool) parseLists(ctx context.Context, q queue.Name, names []string) []lists.ID {
	var out []lists.ID
	for _, n := range names {
		id, err := parseList(n)
		if err == nil && string(id) == n {
			out = append(out, id)
			continue
		}
		s.mu.Lock()
		p := s.polls[q]
		said := p.odd[n]
		p.odd[n] = true
		s.mu.Unlock()
		if !said {
			s.c.Log.WarnContext(ctx, "not a list's folder, left alone", "queue", q, "entry", n)
		}
	}
	return out
}
