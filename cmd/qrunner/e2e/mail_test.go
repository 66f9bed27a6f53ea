package e2e

import (
	"fmt"
	"strings"
	"testing"

	"qrunner/queue/queuetest"
)

// poster is a member of every list that host.list makes.
const poster = "m0000@members.example"

// message is a post with local line ends; id goes without its angle brackets.
func message(from, to, id string, extra ...string) string {
	head := []string{
		"From: " + from, "To: " + to, "Subject: About " + id, "Date: Tue, 01 Dec 2026 09:00:00 +0000",
		"Message-ID: <" + id + ">",
	}
	head = append(head, extra...)
	return strings.Join(head, "\n") + "\n\nThis is " + id + ".\n"
}

// newSink is the smarthost of a test; it returns where it listens.
func newSink(t *testing.T, c queuetest.SinkConfig) (*queuetest.Sink, string) {
	t.Helper()
	return newSinkAt(t, "", c)
}

// newSinkAt is newSink that listens at an address.
func newSinkAt(t *testing.T, addr string, c queuetest.SinkConfig) (*queuetest.Sink, string) {
	t.Helper()
	s, err := queuetest.NewSink(c)
	if err != nil {
		t.Fatal(err)
	}
	addr, err = s.Listen(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			t.Error("the client broke the rules: " + v)
		}
	})
	return s, addr
}

// tally counts copies by message and recipient.
type tally map[string]map[string]int

func count(s *queuetest.Sink) tally {
	out := tally{}
	for c, n := range s.Copies() {
		id := strings.Trim(c.MessageID, "<>")
		if out[id] == nil {
			out[id] = map[string]int{}
		}
		out[id][c.Recipient] += n
	}
	return out
}

// once checks that each of the messages reached each of the recipients n times, and
// nobody else.
func (c tally) once(t *testing.T, ids, recipients []string) {
	t.Helper()
	for _, id := range ids {
		for _, r := range recipients {
			if n := c[id][r]; n != 1 {
				t.Errorf("%s at %s: %d times", id, r, n)
			}
		}
		if len(c[id]) > len(recipients) {
			t.Errorf("%s has %d recipients, want %d", id, len(c[id]), len(recipients))
		}
	}
}

// ids are Message-IDs prefix.0000@posts.example and so on.
func ids(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s.%04d@posts.example", prefix, i)
	}
	return out
}
