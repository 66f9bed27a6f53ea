package queuetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Copy is one message at one recipient.
type Copy struct {
	MessageID string // with its angle brackets
	Sum       string // of the body: 16 hex digits of its SHA-256
	Recipient string
}

// SinkMessage is one transaction that a Sink took.
type SinkMessage struct {
	Conn       int
	MessageID  string
	Sum        string
	Sender     string
	Recipients []string
	Params     string // of MAIL: "SIZE=10 BODY=8BITMIME"
	Raw        []byte // without dot-stuffing
	TLS        bool
	User       string
}

// SinkStats is what came to a Sink.
type SinkStats struct {
	Connections, Open        int64
	Transactions, Recipients int64 // taken
	Refused                  int64 // recipients and messages
	Octets                   int64 // of messages taken
	Duplicates               int   // copies taken more than once
}

// take records a message that was accepted.
func (s *Sink) take(m *SinkMessage, recipients, octets int) {
	if s.c.Keep != KeepCounts {
		m.MessageID, m.Sum = identify(m.Raw)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transactions.Add(1)
	s.recipients.Add(int64(recipients))
	s.octets.Add(int64(octets))
	close(s.changed)
	s.changed = make(chan struct{})
	if s.c.Keep == KeepCounts {
		return
	}
	for _, r := range m.Recipients {
		c := Copy{MessageID: m.MessageID, Sum: m.Sum, Recipient: r}
		s.copies[c]++
		if s.copies[c] > 1 {
			s.again = append(s.again, c)
		}
	}
	if s.c.Keep == KeepMessages {
		s.messages = append(s.messages, *m)
	}
}

// identify finds the Message-ID and sums up the body.
func identify(raw []byte) (id, sum string) {
	header, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	unfolded := strings.NewReplacer("\r\n ", " ", "\r\n\t", " ").Replace(string(header))
	for line := range strings.SplitSeq(unfolded, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(strings.TrimSpace(name), "message-id") {
			id = strings.TrimSpace(value)
			break
		}
	}
	h := sha256.Sum256(body)
	return id, hex.EncodeToString(h[:8])
}

// violation notes that a client broke a rule of SMTP.
func (s *Sink) violation(conn int, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.violations) < 100 {
		s.violations = append(s.violations, fmt.Sprintf("connection %d: ", conn)+fmt.Sprintf(format, args...))
	}
}

// Violations are what clients did against the RFCs, at most the first hundred.
func (s *Sink) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Messages are the transactions taken, in order (KeepMessages only).
func (s *Sink) Messages() []SinkMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Copies says how often each copy was taken; empty with KeepCounts.
func (s *Sink) Copies() map[Copy]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.copies)
}

// Duplicates are the copies taken again, one for each time.
func (s *Sink) Duplicates() []Copy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.again)
}

// Stats reads the counters.
func (s *Sink) Stats() SinkStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SinkStats{Connections: s.conns.Load(), Open: s.open.Load(), Transactions: s.transactions.Load(),
		Recipients: s.recipients.Load(), Refused: s.refused.Load(), Octets: s.octets.Load(), Duplicates: len(s.again)}
}

// Wait returns when n copies have been taken since the start, or with the cause of
// ctx's end.
func (s *Sink) Wait(ctx context.Context, n int64) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if s.recipients.Load() >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d copies, have %d: %w", n, s.recipients.Load(), context.Cause(ctx))
		}
	}
}
