package explore_test

import (
	"fmt"
	"strings"
	"sync"

	"qrunner/locking"
)

// monitor knows who holds the lock, and what was committed under it.
type monitor struct {
	mu      sync.Mutex
	holders map[string]func() bool // whether the lease still stands
	entered int
	token   locking.Token // of the last grant
	commits map[uint64]string
	err     error
}

func newMonitor() *monitor {
	return &monitor{holders: map[string]func() bool{}, commits: map[uint64]string{}}
}

// enter notes a new holder: there is no other (S1, if alone is true), and tokens
// grow in the order of entering (S3).
func (m *monitor) enter(name string, alive func() bool, token locking.Token, alone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entered++
	if token <= m.token {
		m.fail(fmt.Errorf("S3: token %d was granted after %d", token, m.token))
	}
	m.token = token
	if !alive() {
		return
	}
	for other, lives := range m.holders {
		if alone && lives() {
			m.fail(fmt.Errorf("S1: two holders: %s and %s", other, name))
		}
	}
	m.holders[name] = alive
}

func (m *monitor) leave(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.holders, name)
}

// holding lists, by process, those whose lease stands.
func (m *monitor) holding() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, lives := range m.holders {
		if lives() {
			name, _, _ = strings.Cut(name, "+")
			names = append(names, name)
		}
	}
	return names
}

func (m *monitor) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entered
}

func (m *monitor) committed(n uint64, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits[n] = text
}

func (m *monitor) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}
