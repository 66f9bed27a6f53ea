package fanout

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"qrunner/queue"
	"qrunner/queue/retry"
)

// parseJournal reads all lines that are whole. A torn end is what a crash leaves;
// bad counts it and whatever else does not have its own check sum.
func parseJournal(data []byte) (out []record, bad int) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) == 0 && whole {
			continue
		}
		r, err := parseRecord(string(line))
		if err != nil || !whole {
			bad++
			continue
		}
		out = append(out, r)
	}
	return out, bad
}

// parseRecord reads one line without its line end.
func parseRecord(line string) (record, error) {
	if len(line) < 10 || line[8] != ' ' {
		return record{}, errLine
	}
	if line[:8] != sum(line[9:]) {
		return record{}, fmt.Errorf("%w: check sum", errLine)
	}
	p := parser{rest: line[9:]}
	r := record{kind: kind(p.word())}
	fields, ok := layout[r.kind]
	if !ok {
		return record{}, fmt.Errorf("%w: unknown kind %q", errLine, r.kind)
	}
	for _, f := range fields {
		p.field(&r, f)
	}
	if p.bad || p.rest != "" {
		return record{}, fmt.Errorf("%w: %s", errLine, r.kind)
	}
	return r, nil
}

// parser takes a line apart; after the first mistake it is bad and stays so.
type parser struct {
	rest string
	bad  bool
}

func (p *parser) word() string {
	w, rest, _ := strings.Cut(p.rest, " ")
	p.rest = rest
	return w
}

func (p *parser) number() int {
	n, err := strconv.Atoi(p.word())
	p.bad = p.bad || err != nil || n < 0
	return n
}

func (p *parser) time() time.Time {
	n := p.number()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n), 0)
}

func (p *parser) plain() string {
	w := p.word()
	p.bad = p.bad || dash(w) != w
	if w == "-" {
		return ""
	}
	return w
}

// quoted is always the last part of a line.
func (p *parser) quoted() string {
	s, err := strconv.Unquote(p.rest)
	p.bad = p.bad || err != nil || p.rest[0] != '"'
	p.rest = ""
	return s
}

func (p *parser) field(r *record, f field) {
	switch f {
	case fSet:
		var err error
		r.set, err = parseSet(p.word())
		p.bad = p.bad || err != nil
	case fReply:
		r.reply.Phase = queue.Phase(p.plain())
		r.reply.Code = p.number()
		r.reply.Enhanced = p.plain()
		r.reply.Text = p.quoted()
	case fClass:
		r.class = retry.Class(p.plain())
	case fWhen:
		r.when = p.time()
	case fDue:
		r.due = p.time()
	case fRound:
		r.round = p.number()
	case fCount:
		r.count = p.number()
	case fStuck:
		r.stuck = p.number()
	case fTold:
		r.told = p.number()
	case fText:
		r.text = p.quoted()
	}
}
