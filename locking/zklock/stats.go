package zklock

import "time"

// Stats counts what a Locker did since it was made.
type Stats struct {
	Grants      int64         // leases handed out
	Releases    int64         // leases given back
	Losses      int64         // leases lost while they were held
	Steals      int64         // contenders removed by Steal
	Wakes       int64         // times that a waiter was woken by the node before it
	LostReplies int64         // creates whose answer was lost and that had been done
	Orphans     int64         // nodes of ours that had to be followed up
	Waited      time.Duration // before grants
}

// Stats returns the counts so far.
func (l *Locker) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

func (l *Locker) counted(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.count)
}
