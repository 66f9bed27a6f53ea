package fanout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/simfs"
	"qrunner/queue"
)

// stamped puts the recipient into a header field of each copy.
type stamped struct{ raw string }

func (s stamped) Copy(scratch *[]byte, r lists.Recipient) ([]byte, error) {
	*scratch = append(append(append((*scratch)[:0], "To: "...), r.Address...), "\r\n"+s.raw...)
	return *scratch, nil
}

// Each recipient gets his own copy, in a transaction of its own, also after a retry. While
// copies cannot be made nothing goes out, and nothing is lost.
func TestCopiesThatDiffer(t *testing.T) {
	bubble(t, simfs.Config{}, func(w *world) {
		w.members(25)
		var mu sync.Mutex
		wrong := ""
		trouble := 2
		w.smtp.script = func(t *queue.Transaction, r mailaddr.Address, try int) queue.Reply {
			mu.Lock()
			defer mu.Unlock()
			if len(t.Recipients) != 1 || !strings.HasPrefix(string(t.Raw), "To: "+string(r)+"\r\nSubject: hello") {
				wrong = string(r) + " got " + string(t.Raw)
			}
			if r == "m3@example.org" && try < 1 {
				return reply(450, queue.PhaseRcpt, "4.2.2", "mailbox full")
			}
			return queue.Reply{}
		}
		f := w.post(25)
		f.Copies = lists.Copies{Full: true}
		id := w.send(f)
		h := w.srv.Host("a")
		c := w.config(h)
		c.Copies = func(_ context.Context, f *queue.Fanout) (queue.Copier, error) {
			mu.Lock()
			defer mu.Unlock()
			if trouble--; trouble >= 0 {
				return nil, errors.New("a key cannot be read")
			}
			return stamped{string(f.Raw)}, nil
		}
		defer w.start(h, c)()
		w.settled(3 * time.Hour)
		w.once(25, id)
		mu.Lock()
		defer mu.Unlock()
		if wrong != "" {
			t.Error(wrong)
		}
	})
}

// verpHost is a smarthost with XVERP.
type verpHost struct{ *hostTransport }

func (verpHost) XVERP() bool { return true }

// Where the smarthost makes the senders, those for whom it makes the same as we would
// share a transaction; a token, and a copy of one's own, cannot be left to it.
func TestXVERP(t *testing.T) {
	for _, tc := range []struct {
		name          string
		readable, own bool
		shared        int
	}{{"readable", true, false, 11}, {"tokens", false, false, 0}, {"own copies", true, true, 0}} {
		bubble(t, simfs.Config{}, func(w *world) {
			f := w.post(12)
			f.VERP, f.Readable = true, tc.readable
			f.Recipients[5].Address = mailaddr.Address(strings.Repeat("l", 60) + "@example.org")
			if tc.own {
				f.Copies = lists.Copies{Full: true}
			}
			var mu sync.Mutex
			shared, alone := 0, 0
			w.smtp.script = func(x *queue.Transaction, r mailaddr.Address, _ int) queue.Reply {
				mu.Lock()
				defer mu.Unlock()
				_, readable := mailaddr.ReadableVERP(ant.Bounces(), r)
				if x.XVERP {
					shared++
					if x.Sender != ant.Bounces() || !readable {
						t.Errorf("%s: %s by the smarthost", r, x.Sender)
					}
					return queue.Reply{}
				}
				alone++
				_, extra, _ := strings.Cut(x.Sender.Local(), "+")
				if v, ok := mailaddr.DecodeVERP(extra); !ok || !v.Names(r) || v.Address.Null() != !(tc.readable && readable) {
					t.Errorf("%s: %s", r, x.Sender)
				}
				return queue.Reply{}
			}
			w.send(f)
			h := w.srv.Host("a")
			c := w.config(h)
			c.Transport = verpHost{c.Transport.(*hostTransport)}
			c.Copies = func(_ context.Context, f *queue.Fanout) (queue.Copier, error) {
				if !f.Copies.Differ() {
					return nil, nil
				}
				return stamped{string(f.Raw)}, nil
			}
			defer w.start(h, c)()
			w.settled(time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if shared != tc.shared || alone != 12-tc.shared {
				t.Errorf("%s: %d shared, %d alone", tc.name, shared, alone)
			}
			var all []mailaddr.Address
			for _, s := range w.smtp.tried() {
				all = append(all, s.rcpt)
			}
			slices.Sort(all)
			if len(slices.Compact(all)) != 12 {
				t.Errorf("%s: %v", tc.name, all)
			}
		})
	}
}
