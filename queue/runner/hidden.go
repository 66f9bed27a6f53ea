package runner

import (
	"errors"
	"sync"
	"time"

	"qrunner/queue"
)

// hiddenFor is how long an entry that is listed and cannot be opened keeps those behind it
// waiting. When the answer to the rename that made a name is lost, the client that asked
// remembers that there is no such name, for as long as acdirmax lets it (60 s by default).
// No other host does, and any of them may take the list meanwhile. What is hidden for longer
// is damage of the share, and holds nobody up.
const hiddenFor = 90 * time.Second

// errHidden: what is behind an entry waits for it.
var errHidden = errors.New("listed, and not there to be opened")

// hidden is since when which entries are listed and cannot be opened.
type hidden struct {
	mu    sync.Mutex
	since map[queue.ID]time.Time
}

// waits notes that an entry cannot be opened now, and reports whether those behind it are to
// wait for it.
func (h *hidden) waits(id queue.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for other, since := range h.since {
		if now.Sub(since) > time.Hour { // long gone, or looked at again as if for the first time
			delete(h.since, other)
		}
	}
	since, ok := h.since[id]
	if !ok {
		h.since[id], since = now, now
	}
	return now.Sub(since) < hiddenFor
}
