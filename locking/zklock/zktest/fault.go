package zktest

// Request is a request before it is done.
type Request struct {
	Op      string // "create", "delete", "exists", "getData", "getChildren2", "sync", "multi", ...
	Path    string // "" where it has none
	Session int64
	Server  int
}

// Fate is what shall become of a request. The zero Fate is an ordinary one.
type Fate struct {
	Wait      <-chan struct{} // not before this is closed; what follows on the connection waits too
	Lose      bool            // it is not done, and the connection breaks
	LoseReply bool            // it is done, and the connection breaks instead of an answer
	Code      int32           // it is not done, and this is the answer
}

// Hook decides about every request from now on; nil for none. It may be called from
// several goroutines and may call the Ensemble.
func (e *Ensemble) Hook(f func(Request) Fate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hook = f
}

// Once makes the fate of the next request for which match is true; the channel is
// closed when it came.
func (e *Ensemble) Once(match func(Request) bool, fate Fate) <-chan struct{} {
	hit := make(chan struct{})
	token := make(chan struct{}, 1)
	token <- struct{}{}
	e.Hook(func(r Request) Fate {
		if !match(r) {
			return Fate{}
		}
		select {
		case <-token:
			close(hit)
			return fate
		default:
			return Fate{}
		}
	})
	return hit
}

// IsOp matches requests of one kind.
func IsOp(op string) func(Request) bool { return func(r Request) bool { return r.Op == op } }
