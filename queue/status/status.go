// Package status shows over HTTP how this host is doing: /metrics in Prometheus's
// text format, /healthz (is the process up and the share there).
//
// Figures are gathered when somebody asks; nothing is counted twice. Queue depths are
// those of the share, the same on every host; the rest is this process's own.
package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"qrunner/lists"
	"qrunner/queue"
)

// Depth is one queue of one list.
type Depth struct {
	Queue   queue.Name
	List    lists.ID
	Entries int
	Oldest  time.Time
}

// Counts are figures by name, such as "lock_grants_total"; names with a label are
// written as `lock_breaks_total{reason="dead"}` would be: Name, Label, Value.
type Counts []Count

// Count is one figure that only grows.
type Count struct {
	Name, Help   string
	Label, Value string // empty: no label
	N            float64
}

// Config says where figures come from. Each function is called at each scrape.
type Config struct {
	Depths func(context.Context) ([]Depth, error)
	Counts func() Counts
	// Healthy says what is wrong, or nil.
	Healthy func(context.Context) error
	Log     *slog.Logger
}

// scrapeTime bounds one request: a hard mount may block for minutes.
const scrapeTime = 10 * time.Second

// Serve answers on l until ctx ends. It closes l.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(&collector{c}); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Timeout: scrapeTime}))
	mux.HandleFunc("GET /healthz", c.health)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: scrapeTime, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve status: %w", err)
	}
	return nil
}

func (c Config) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), scrapeTime)
	defer cancel()
	if err := c.Healthy(ctx); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
