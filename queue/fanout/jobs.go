package fanout

import (
	"context"
	"errors"
	"sync"

	"qrunner/queue"
)

// jobs are the transactions of a claim that nobody has begun yet: recipients by
// number. Any goroutine may use it.
type jobs struct {
	mu      sync.Mutex
	waiting [][]int
	left    int         // begun or waiting, without a result
	failed  int         // transactions in a row that ended before MAIL was answered
	stopped error       // why no more are begun
	over    func() bool // the time slice is: no more are begun
}

// maxFailed transactions in a row that ended before MAIL was answered mean that the
// smarthost is gone; fewer may be idle connections that it had closed.
const maxFailed = 3

// errSlice: the claim's time is over, and other lists wait.
var errSlice = errors.New("the time slice is over")

// plan cuts recipients into transactions: one each for VERP; those whose addresses
// need SMTPUTF8 apart, so that nobody else's copy asks for it.
func plan(numbers []int, size int, ascii func(n int) bool) *jobs {
	j := &jobs{over: func() bool { return false }}
	var plain, utf8 []int
	for _, n := range numbers {
		if ascii(n) {
			plain = append(plain, n)
		} else {
			utf8 = append(utf8, n)
		}
	}
	for _, part := range [][]int{plain, utf8} {
		for len(part) > 0 {
			k := min(size, len(part))
			j.waiting = append(j.waiting, part[:k:k])
			part = part[k:]
		}
	}
	j.left = len(j.waiting)
	return j
}

// next takes a transaction; false when there is none or no more shall be begun.
func (j *jobs) next(ctx context.Context) ([]int, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) == 0 || j.stopped != nil || ctx.Err() != nil {
		return nil, false
	}
	if j.over() {
		j.stopped = errSlice
		return nil, false
	}
	job := j.waiting[0]
	j.waiting = j.waiting[1:]
	return job, true
}

// done says that a transaction has its results; again are the recipients that need
// another one. It reports whether that was the last result of the claim.
func (j *jobs) done(again []int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = 0
	if len(again) > 0 {
		j.waiting = append(j.waiting, again)
		return false
	}
	j.left--
	return j.left == 0
}

// back returns a transaction that the smarthost did not look at.
func (j *jobs) back(job []int, r queue.Reply) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append([][]int{job}, j.waiting...)
	if j.failed++; j.failed >= maxFailed && j.stopped == nil {
		j.stopped = &queue.SiteError{Phase: r.Phase, Reply: r}
	}
}

// stop lets no more transactions begin.
func (j *jobs) stop(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopped == nil {
		j.stopped = err
	}
}

// end says whether all have their results, and if not, what was in the way.
func (j *jobs) end() (all bool, why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.left == 0, j.stopped
}
