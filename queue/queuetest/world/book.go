package world

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/queue"
	"qrunner/queue/spool"
	"qrunner/queue/trace"
)

// copyOf is one message at one recipient.
type copyOf struct{ message, rcpt string }

// post is a message that a client wants delivered.
type post struct {
	id       string // its Message-ID
	list     lists.ID
	began    time.Time // the first try
	lastTry  time.Time
	acked    time.Time // zero: never answered 250
	attempts int
}

// book is what was promised, and what happened that no file says afterwards.
type book struct {
	w *World

	mu       sync.Mutex // never held across a call that may wait
	posts    map[string]*post
	entries  map[queue.ID]string // Message-ID by entry
	accepted map[queue.ID]bool   // entries that a client was told are stored
	fans     map[queue.ID][]copyOf
	final    map[copyOf]string // journaled as sent, by the fan-out that says so
	refused  map[copyOf]bool   // 5xx at RCPT
	names    map[string]bool   // what got a name below queue/
	wrong    []string          // promises broken
	calls    map[string]int    // on the share, by host
}

func newBook(w *World) *book {
	return &book{
		w: w, posts: map[string]*post{}, entries: map[queue.ID]string{}, accepted: map[queue.ID]bool{},
		fans: map[queue.ID][]copyOf{}, final: map[copyOf]string{}, refused: map[copyOf]bool{}, names: map[string]bool{}, calls: map[string]int{},
	}
}

// broken notes a promise that was not kept.
func (b *book) broken(format string, args ...any) {
	text := fmt.Sprintf("%9.3fs ", time.Since(b.w.Log.start).Seconds()) + fmt.Sprintf(format, args...)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = append(b.wrong, text)
}

// entry notes which message an entry is.
func (b *book) entry(e *queue.Entry) {
	id := message.Parse(e.Raw).Get("Message-ID")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries[e.ID] = id
}

// event takes a trace event; nothing is checked by it yet but that it names its list.
func (b *book) event(e trace.Event) {
	if e.List == "" {
		b.broken("trace event %q of %s without its list", e.Event, e.Entry)
	}
}

// named notes a name that was made.
func (b *book) named(name string) {
	if !strings.HasPrefix(name, "queue/") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[name] = true
}

// fan reads whom a fan-out is for, once.
func (b *book) fan(id queue.ID) []copyOf {
	b.mu.Lock()
	known, ok := b.fans[id]
	b.mu.Unlock()
	if ok {
		return known
	}
	dir := b.w.fanoutDir(id)
	if dir == "" {
		return nil
	}
	ctx := context.Background()
	fo, all, err := spool.ReadFanout(ctx, b.w.Eye, dir)
	if err != nil {
		return nil
	}
	people, err := all.Range(ctx, 0, all.Len())
	if err != nil {
		return nil
	}
	msg := message.Parse(fo.Raw).Get("Message-ID")
	out := make([]copyOf, len(people))
	for i, r := range people {
		out[i] = copyOf{msg, r.Address.String()}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fans[id] = out
	return out
}

// journaled notes recipients of a fan-out that are on stable storage as sent.
func (b *book) journaled(id queue.ID, numbers []int) {
	people := b.fan(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range numbers {
		if n < len(people) {
			b.final[people[n]] = string(id)
		}
	}
}

// sending checks that nobody is sent a copy again after his 250 was journaled.
func (b *book) sending(host string, t *queue.Transaction) {
	id := message.Parse(t.Raw).Get("Message-ID")
	for _, r := range t.Recipients {
		c := copyOf{id, r.String()}
		b.mu.Lock()
		by, again := b.final[c]
		b.mu.Unlock()
		if again {
			b.broken("host %s sends %s to %s although %s has its 250 in a journal", host, c.message, c.rcpt, by)
		}
	}
}

// told notes who was refused for good.
func (b *book) told(t *queue.Transaction, replies []queue.Reply) {
	id := message.Parse(t.Raw).Get("Message-ID")
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range replies {
		if r.Code/100 == 5 && r.Phase == queue.PhaseRcpt {
			b.refused[copyOf{id, t.Recipients[i].String()}] = true
		}
	}
}

// try notes that a client begins to hand a post over.
func (b *book) try(id string, list lists.ID) *post {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.posts[id]
	if p == nil {
		p = &post{id: id, list: list, began: time.Now()}
		b.posts[id] = p
	}
	p.lastTry = time.Now()
	p.attempts++
	return p
}

func (b *book) ack(p *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.acked.IsZero() {
		p.acked = time.Now()
	}
}

// waiting are the posts that no client was promised to keep yet.
func (b *book) waiting() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, p := range b.posts {
		if p.acked.IsZero() {
			out = append(out, id)
		}
	}
	return out
}

// call counts a call on the share.
func (b *book) call(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[host]++
}
