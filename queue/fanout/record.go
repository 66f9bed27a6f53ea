package fanout

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"qrunner/queue"
	"qrunner/queue/retry"
)

// kind is what a line of a journal, or a mark, says. The texts are the format.
type kind string

const (
	begin    kind = "begin"    // first line: whose journal this is
	start    kind = "start"    // a transaction is about to be sent
	sent     kind = "sent"     // 2xx; final
	refused  kind = "refused"  // 5xx at RCPT; judged when the range ends
	bounced  kind = "bounced"  // refused for good; final
	judged   kind = "judged"   // the message was refused; final
	deferred kind = "deferred" // to be tried again when due
	expired  kind = "expired"  // deferred for too long; final
	left     kind = "left"     // no longer a member; final
	child    kind = "child"    // a child is complete; gone from the folder = published
	ended    kind = "end"      // the range is done for this round
	quit     kind = "quit"     // the owner let go in order; nothing is in flight
	trouble  kind = "trouble"  // the share or the lock stopped the owner
	wait     kind = "retry"    // mark round.<k>: come back when due
	park     kind = "shunt"    // mark round.<k>: to shunt/, with the cause
)

// field is a part of a line.
type field int

const (
	fSet field = iota
	fReply
	fClass
	fWhen
	fDue
	fRound
	fCount
	fStuck
	fTold
	fText
)

// layout is the format of each line: "<crc32c> <kind> <field>...". Text is quoted
// as in Go, times are seconds since 1970, sets are "0-99,102".
var layout = map[kind][]field{
	begin:    {fRound, fCount, fWhen, fText},
	start:    {fSet},
	sent:     {fSet, fReply},
	refused:  {fSet, fReply},
	bounced:  {fSet, fReply},
	judged:   {fSet, fReply},
	deferred: {fSet, fClass, fWhen, fDue, fReply},
	expired:  {fSet, fReply},
	left:     {fSet},
	child:    {fText},
	ended:    {fRound, fCount, fStuck, fTold, fDue},
	quit:     {fText},
	trouble:  {fText},
	wait:     {fDue, fText},
	park:     {fText},
}

// record is one line. Fields that its layout lacks are zero.
type record struct {
	kind  kind
	set   set
	reply queue.Reply
	class retry.Class
	when  time.Time // when it happened, server's time
	due   time.Time // when to try again; zero for never
	round int
	count int // begin: the batch size; end: recipients not closed
	stuck int // end: those of count that only the site can help
	told  int // end: recipients judged or expired in this round, for the report
	text  string
}

var errLine = errors.New("not a journal line")

// maxText bounds free text in a line.
const maxText = 512

func (r record) append(b []byte) []byte {
	at := len(b)
	b = append(b, "00000000 "...)
	b = append(b, r.kind...)
	for _, f := range layout[r.kind] {
		b = append(b, ' ')
		b = r.appendField(b, f)
	}
	copy(b[at:], sum(string(b[at+9:])))
	return append(b, '\n')
}

// sum is the CRC-32C that stands before a line's text.
func sum(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))
}

func (r record) appendField(b []byte, f field) []byte {
	switch f {
	case fSet:
		return r.set.append(b)
	case fReply:
		b = append(b, dash(string(r.reply.Phase))+" "+strconv.Itoa(r.reply.Code)+" "+dash(r.reply.Enhanced)+" "...)
		return strconv.AppendQuote(b, r.reply.Text[:min(len(r.reply.Text), maxText)])
	case fClass:
		return append(b, dash(string(r.class))...)
	case fWhen:
		return appendTime(b, r.when)
	case fDue:
		return appendTime(b, r.due)
	case fRound:
		return strconv.AppendInt(b, int64(r.round), 10)
	case fCount:
		return strconv.AppendInt(b, int64(r.count), 10)
	case fStuck:
		return strconv.AppendInt(b, int64(r.stuck), 10)
	case fTold:
		return strconv.AppendInt(b, int64(r.told), 10)
	}
	return strconv.AppendQuote(b, r.text[:min(len(r.text), maxText)])
}

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '0')
	}
	return strconv.AppendInt(b, t.Unix(), 10)
}

// dash keeps a word a word.
func dash(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "-"
	}
	return s
}
