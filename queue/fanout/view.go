package fanout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qrunner/locking/fsys"
	"qrunner/queue/spool"
)

// Names inside a fan-out's folder.
const (
	finishedMark = "finished"
	roundPrefix  = "round."
	openPrefix   = "open."
	journalStem  = "journal."
	childPrefix  = "child."
	// closing is the range of whoever ends a round of several ranges.
	closing = "close"
)

// view is one listing of a fan-out's folder.
type view struct {
	journals   map[string][]int // numbers in order, by range
	round      int              // the round in force, from 1
	over       bool             // its mark is there
	finished   bool
	recipients bool
	children   []string
}

func journalName(rng string, n int) string { return fmt.Sprintf("%s%s.%04d", journalStem, rng, n) }
func rangeName(i int) string               { return fmt.Sprintf("%06d", i) }
func roundName(k int) string               { return roundPrefix + strconv.Itoa(k) }
func openName(k int) string                { return openPrefix + strconv.Itoa(k) }

// readView lists the open folder d, afresh.
func readView(d fsys.Dir) (*view, error) {
	list, err := d.ReadDir()
	if err != nil {
		return nil, err
	}
	return newView(list), nil
}

func newView(list []fsys.DirEntry) *view {
	v := &view{journals: map[string][]int{}, round: 1}
	rounds := map[int]bool{}
	for _, e := range list {
		switch name := e.Name; {
		case name == finishedMark:
			v.finished = true
		case name == spool.RecipientsFile:
			v.recipients = true
		case strings.HasPrefix(name, childPrefix):
			v.children = append(v.children, name)
		case strings.HasPrefix(name, openPrefix):
			v.round = max(v.round, number(name[len(openPrefix):]))
		case strings.HasPrefix(name, roundPrefix):
			rounds[number(name[len(roundPrefix):])] = true
		case strings.HasPrefix(name, journalStem):
			rng, num, _ := strings.Cut(name[len(journalStem):], ".")
			if n := number(num); n > 0 {
				v.journals[rng] = append(v.journals[rng], n)
			}
		}
	}
	for _, ns := range v.journals {
		slices.Sort(ns)
	}
	v.over = rounds[v.round]
	return v
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// last is the highest journal number of a range, 0 for none.
func (v *view) last(rng string) int {
	ns := v.journals[rng]
	if len(ns) == 0 {
		return 0
	}
	return ns[len(ns)-1]
}

// whole reports whether the range has the journals 1..n and no others: a lower one
// that is missing tells of a folder on its way out, a higher one of a successor.
func (v *view) whole(rng string, n int) bool {
	return len(v.journals[rng]) == n && v.last(rng) == n
}
