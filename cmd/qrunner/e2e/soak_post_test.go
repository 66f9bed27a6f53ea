package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// post lets a client for each list post until the end, each post until it is taken.
func (s *soak) post() *sync.WaitGroup {
	var all sync.WaitGroup
	for n := range s.lists {
		all.Go(func() {
			for k := 0; !s.over.Load(); k++ {
				id := fmt.Sprintf("p%d.l%02d@posts.example", k, n)
				s.insist(soakList(n), id)
				pace(time.Duration(200+rand.IntN(1300)) * time.Millisecond)
			}
		})
	}
	return &all
}

// insist is an MTA with a post: it tries one host after the other until one answers 250.
func (s *soak) insist(list, id string) {
	for try := rand.IntN(2); ; try++ {
		r := s.runners[try%len(s.runners)]
		var err error
		if rand.IntN(10) == 0 {
			err = r.pipe(list, id)
		} else {
			err = handOver(r.where(), list, message("poster@example.net", list, id))
		}
		s.mu.Lock()
		s.tries++
		if err == nil {
			s.taken[id] = list
		}
		s.mu.Unlock()
		if err == nil {
			return
		}
		pace(time.Duration(100+rand.IntN(400)) * time.Millisecond)
	}
}

// pipe hands a post to `qrunner deliver`, which needs no daemon.
func (r *soakRunner) pipe(list, id string) error {
	cmd := r.h.command("deliver", "-f", "poster@example.net", list)
	cmd.Stdin = strings.NewReader(message("poster@example.net", list, id))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("deliver: %w: %s", err, out)
	}
	return nil
}

// handOver is one LMTP session with one post. It gives up after a few seconds, as a
// client does whose server is paused.
func handOver(addr, list, raw string) error {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	c := textproto.NewConn(conn)
	if _, _, err := c.ReadResponse(220); err != nil {
		return err
	}
	for _, step := range []struct {
		line string
		want int
	}{{"LHLO client.example", 250}, {"MAIL FROM:<poster@example.net>", 250}, {"RCPT TO:<" + list + ">", 250}, {"DATA", 354}} {
		if err := c.PrintfLine("%s", step.line); err != nil {
			return err
		}
		if _, _, err := c.ReadResponse(step.want); err != nil {
			return err
		}
	}
	w := c.DotWriter()
	if _, err := w.Write([]byte(raw)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_, _, err = c.ReadResponse(250)
	return err
}

// pace lets real time pass: real daemons have no other.
func pace(d time.Duration) { <-time.After(d) }
