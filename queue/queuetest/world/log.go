package world

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"qrunner/locking/simfs"
)

// Log keeps what the hosts say.
type Log struct {
	level slog.Level
	start time.Time

	mu    sync.Mutex
	lines []Line
}

// Line is one line of a log.
type Line struct {
	At    time.Duration // since the World began
	Level slog.Level
	Host  string
	Text  string
	Attrs map[string]string
}

// String is the line as it is printed.
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%9.3fs %-5s %s %s", l.At.Seconds(), l.Level, l.Host, l.Text)
	keys := make([]string, 0, len(l.Attrs))
	for k := range l.Attrs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%q", k, l.Attrs[k])
	}
	return b.String()
}

func newLog(level slog.Level) *Log {
	if level == 0 {
		level = slog.LevelWarn
	}
	return &Log{level: level, start: time.Now()}
}

// Lines are what was said so far with a text that begins with text.
func (l *Log) Lines(text string) []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Line
	for _, x := range l.lines {
		if strings.HasPrefix(x.Text, text) {
			out = append(out, x)
		}
	}
	return out
}

// add is for the World's own remarks.
func (l *Log) add(level slog.Level, host, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, Line{At: time.Since(l.start), Level: level, Host: host, Text: text})
}

// handler is one host's; what a dead host says nobody hears.
type handler struct {
	*Log
	host  *simfs.Host
	name  string
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	if h.host.Context().Err() != nil {
		return nil
	}
	line := Line{At: time.Since(h.start), Level: r.Level, Host: h.name, Text: r.Message, Attrs: map[string]string{}}
	for _, a := range h.attrs {
		line.Attrs[a.Key] = a.Value.String()
	}
	r.Attrs(func(a slog.Attr) bool {
		line.Attrs[a.Key] = a.Value.String()
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	return nil
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append(slices.Clip(h.attrs), attrs...)
	return &c
}

// WithGroup implements slog.Handler; groups are not told apart.
func (h *handler) WithGroup(string) slog.Handler { return h }
