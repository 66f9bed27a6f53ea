package world

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/queue"
	"qrunner/queue/intake"
)

// How a client hands a post over.
const (
	Pipe = "pipe"
	LMTP = "lmtp"
)

// Refused is an answer of intake that is not "stored".
type Refused struct {
	Code int // an SMTP code, or the exit status of the pipe
	Text string
}

// Error is what was said.
func (r *Refused) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Text) }

// Temporary reports whether the client is asked to try again.
func (r *Refused) Temporary() bool { return r.Code == intake.ExitTryLate || r.Code/100 == 4 }

// from is who writes all posts.
const from = "poster@example.net"

func text(id string, list lists.ID) []byte {
	return []byte("From: " + from + "\r\nTo: " + string(list) + "\r\nSubject: post " + id + "\r\nMessage-ID: " + id +
		"\r\n\r\nThis is post " + id + ".\r\n")
}

// Post makes a post number n of a list, and hands it over on a host, once. The book
// expects it to be delivered when this returns nil, and tolerates it otherwise.
func (w *World) Post(ctx context.Context, host, via string, list lists.ID, n int) error {
	return w.hand(ctx, host, via, fmt.Sprintf("<%d.%s@world>", n, list.Local()), list, nil)
}

// PostText is Post with a message of the test's own; id must be its Message-ID.
func (w *World) PostText(ctx context.Context, host, via string, list lists.ID, id string, raw []byte) error {
	return w.hand(ctx, host, via, id, list, raw)
}

func (w *World) hand(ctx context.Context, host, via, id string, list lists.ID, raw []byte) error {
	p := w.book.try(id, list)
	if raw == nil {
		raw = text(id, list)
	}
	var err error
	switch h := w.host(host); {
	case via == Pipe:
		err = w.pipePost(ctx, host, list, raw)
	case h == nil:
		err = errors.New("connection refused")
	default:
		err = h.lmtpPost(ctx, list, raw)
	}
	if err == nil {
		w.book.ack(p)
	}
	var no *Refused
	if errors.As(err, &no) && !no.Temporary() {
		w.book.broken("host %s refuses %s for good: %v", host, id, err)
	}
	return err
}

// pipePost is a `qrunner deliver`: a process of its own, whether a daemon runs or not.
func (w *World) pipePost(ctx context.Context, host string, list lists.ID, raw []byte) error {
	p, err := w.open(w.Server.Host(host), host)
	if err != nil {
		return err
	}
	defer p.exit()
	in := intake.New(intake.Config{Spool: &door{&Host{process: p}}, Directory: p.store, Host: p.id.Host, Log: p.log})
	sender := from
	err = in.Deliver(ctx, intake.DeliverArgs{
		Sender: &sender, Words: []string{string(list)}, Env: func(string) (string, bool) { return "", false },
	}, bytes.NewReader(raw))
	if status, line := intake.ExitStatus(err); status != intake.ExitStored {
		return &Refused{Code: status, Text: line}
	}
	return nil
}

// patience is how long a client waits for an answer (RFC 5321 §4.5.3.2.6).
const patience = 10 * time.Minute

// lmtpPost is an MTA's LMTP session with one message.
func (h *Host) lmtpPost(ctx context.Context, list lists.ID, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := h.lmtp.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer context.AfterFunc(h.sim.Context(), func() { conn.Close() })()
	in := bufio.NewReader(conn)
	if err := answer(in, '2'); err != nil {
		return err
	}
	for _, line := range []string{"LHLO client", "MAIL FROM:<" + from + ">", "RCPT TO:<" + string(list) + ">"} {
		if err := say(conn, in, line, '2'); err != nil {
			return err
		}
	}
	if err := say(conn, in, "DATA", '3'); err != nil {
		return err
	}
	if err := say(conn, in, string(raw)+".", '2'); err != nil {
		return err
	}
	_ = say(conn, in, "QUIT", '2')
	return nil
}

func say(conn net.Conn, in *bufio.Reader, text string, want byte) error {
	if _, err := conn.Write([]byte(text + "\r\n")); err != nil {
		return err
	}
	return answer(in, want)
}

// answer reads one reply.
func answer(in *bufio.Reader, want byte) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		if len(line) > 3 && line[3] == '-' {
			continue
		}
		if len(line) < 3 || line[0] == want {
			return nil
		}
		code := 0
		_, _ = fmt.Sscanf(line, "%d", &code)
		return &Refused{Code: code, Text: line}
	}
}

// Insist hands a post over as an MTA does that was told to try again: with pauses, on
// one host after the other, until it is stored or ctx ends.
func (w *World) Insist(ctx context.Context, via string, list lists.ID, n int) error {
	for try := 0; ; try++ {
		host := w.c.Hosts[(n+try)%len(w.c.Hosts)]
		err := w.Post(ctx, host, via, list, n)
		if err == nil {
			return nil
		}
		t := time.NewTimer(time.Duration(5+10*try) * time.Second)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// PostUntil is Post on one host, tried again until it is stored or ctx ends.
func (w *World) PostUntil(ctx context.Context, host, via string, list lists.ID, n int) error {
	for {
		err := w.Post(ctx, host, via, list, n)
		if err == nil || ctx.Err() != nil {
			return err
		}
		sleep(ctx, 10*time.Second)
	}
}

// Again lets the clients of all posts that were not answered yet try again, on one host,
// until they are.
func (w *World) Again(ctx context.Context, host string) {
	for _, id := range w.book.waiting() {
		w.book.mu.Lock()
		l := w.book.posts[id].list
		w.book.mu.Unlock()
		for ctx.Err() == nil && w.hand(ctx, host, Pipe, id, l, nil) != nil {
			sleep(ctx, 10*time.Second)
		}
	}
}

// Slip stores a post without asking whether there is such a list, as intake does when the
// list is deleted between RCPT and the final dot.
func (w *World) Slip(ctx context.Context, host string, list lists.ID, n int) error {
	p, err := w.open(w.Server.Host(host), host)
	if err != nil {
		return err
	}
	defer p.exit()
	id := fmt.Sprintf("<%d.%s@world>", n, list.Local())
	e := &queue.Entry{Queue: queue.In, List: list, Raw: text(id, list)}
	e.Sender, e.Target, e.Source = from, lists.Target{List: list}, "pipe"
	if _, err := p.spool.Put(ctx, e); err != nil {
		return err
	}
	w.book.ack(w.book.try(id, list))
	return nil
}
