package fanout

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/templates"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Trouble is a fault of the smarthost as one host sees it, for whoever asks why mail
// waits.
type Trouble struct {
	Version int       `json:"version"` // of the file's format
	About   string    `json:"about"`   // what makes two faults the same
	Text    string    `json:"text"`
	Host    string    `json:"host"`
	List    lists.ID  `json:"list"` // of the delivery that met it first
	Entry   queue.ID  `json:"entry"`
	Since   time.Time `json:"since"`
	Last    time.Time `json:"last"` // written anew at most every markEvery
}

const (
	// alertDir has a file for each fault and host that sees it.
	alertDir = "alerts"
	// quiet is how long a trouble must be over before its return is news: longer than the
	// longest wait between two tries.
	quiet = 6 * time.Hour
	// markEvery is how often a trouble that lasts is written down again, markLife how long
	// one that is not is believed: its host may be gone.
	markEvery = 10 * time.Minute
	markLife  = time.Hour
	// markVersion is the format; files of another are left alone.
	markVersion = 1
	// maxMark bounds such a file.
	maxMark = 16 << 10
)

// Troubles are the faults that hosts see now, the oldest first.
func Troubles(f fsys.FS, now time.Time) ([]Trouble, error) {
	files, err := f.ReadDir(alertDir)
	if fsys.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list troubles: %w", err)
	}
	var out []Trouble
	for _, file := range files {
		if strings.HasPrefix(file.Name, ".") {
			continue
		}
		var t Trouble
		data, err := fsys.ReadFile(f, path.Join(alertDir, file.Name), maxMark)
		if fsys.Gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read trouble: %w", err)
		}
		if json.Unmarshal(data, &t) == nil && t.Version == markVersion && now.Sub(t.Last) < markLife {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b Trouble) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Host, b.Host))
	})
	return out, nil
}

// alerts remembers what this host has seen and said.
type alerts struct {
	mu   sync.Mutex // never held across a call to the share
	seen map[string]episode
}

type episode struct{ since, last, written time.Time }

// note takes one more sight of a trouble: whether it is news on this host, and whether it
// has to be written down.
func (a *alerts) note(about string, now time.Time) (e episode, news, write bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, known := a.seen[about]
	if news = !known || now.Sub(e.last) > quiet; news {
		e = episode{since: now}
	}
	if write = now.Sub(e.written) >= markEvery; write {
		e.written = now
	}
	e.last = now
	a.seen[about] = e
	return e, news, write
}

// over forgets that a trouble was written down; false: it was not.
func (a *alerts) over(about string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, known := a.seen[about]
	if !known || e.written.IsZero() {
		return false
	}
	e.written = time.Time{}
	a.seen[about] = e
	return true
}

func markName(about, host string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(about))
	return path.Join(alertDir, hex.EncodeToString(h.Sum(nil))+"."+host)
}

// alert takes note of a fault of the smarthost. The site's owner is told once per
// episode, by the host that saw it first.
func (s *Sender) alert(ctx context.Context, u unit, about, text string) {
	now := s.time.now()
	e, news, write := s.alerts.note(about, now)
	if !write {
		return
	}
	t := Trouble{Version: markVersion, About: about, Text: text, Host: s.c.Host, List: u.list, Entry: u.id, Since: e.since, Last: now}
	first, err := s.mark(t)
	if err != nil {
		s.c.Log.WarnContext(ctx, "write trouble down", "err", err)
	}
	if !news {
		return
	}
	s.c.Log.ErrorContext(ctx, "site fault", "list", u.list, "entry", u.id, "err", errors.New(text))
	if first || err != nil {
		s.tellSite(ctx, u, text)
	}
}

// recovered takes a trouble of this host back.
func (s *Sender) recovered(ctx context.Context, about string) {
	if !s.alerts.over(about) {
		return
	}
	if err := fsys.RemoveAny(s.c.FS, markName(about, s.c.Host)); err != nil {
		s.c.Log.WarnContext(ctx, "take trouble back", "err", err)
	}
}

// mark writes a trouble down, and says whether no other host had it before. The listing
// follows a change of our own, so it is fresh.
func (s *Sender) mark(t Trouble) (first bool, err error) {
	data, err := json.Marshal(t)
	if err != nil {
		return false, err
	}
	f, name := s.c.FS, markName(t.About, t.Host)
	if err := fsys.MkdirAll(f, alertDir); err != nil {
		return false, err
	}
	temp := path.Join(alertDir, ".new."+s.random())
	if err = fsys.WriteNew(f, temp, func(w io.Writer) error { _, err := w.Write(data); return err }); err == nil {
		err = fsys.Publish(f, temp, name, fsys.ByRename)
	}
	if err != nil {
		_ = fsys.RemoveAny(f, temp)
		return false, err
	}
	all, err := Troubles(f, t.Last)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(all, func(x Trouble) bool { return x.About == t.About })
	return i < 0 || all[i].Host == t.Host, nil
}

func (s *Sender) tellSite(ctx context.Context, u unit, text string) {
	body, err := s.c.Text(ctx, u.list, templates.SiteTrouble, templates.Vars{"host": s.c.Host, "reasons": text})
	if err == nil {
		e := &queue.Entry{Queue: queue.Virgin, List: lists.Site}
		e.Target, e.Source = lists.Target{List: lists.Site, Sub: lists.SubOwner}, "internal"
		e.Raw = notice(u.list, queue.ID(s.random()), s.c.Clock(), body, mailaddr.Address(u.list.Address(lists.SubOwner)))
		_, err = s.c.Put(context.WithoutCancel(ctx), e)
	}
	if err != nil {
		s.c.Log.WarnContext(ctx, "put notice to the site owner", "queue", queue.Virgin, "err", err)
		return
	}
	s.c.Published(queue.Virgin, lists.Site)
}
