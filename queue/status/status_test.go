package status

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"qrunner/queue"
)

func serve(t *testing.T, c Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.Log = slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, c) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestMetrics(t *testing.T) {
	url := serve(t, Config{
		Counts: func() Counts {
			return Counts{{Name: "lock_breaks_total", Help: "x", Label: "reason", Value: "dead", N: 3}, {Name: "lock_grants_total", Help: "y", N: 7}}
		},
		Depths: func(context.Context) ([]Depth, error) {
			return []Depth{{queue.In, "ant@lists.example.com", 5, time.Now().Add(-time.Minute)}}, nil
		},
		Healthy: func(context.Context) error { return nil },
	})
	code, text := get(t, url+"/metrics")
	for _, want := range []string{
		`qrunner_lock_breaks_total{reason="dead"} 3`, "qrunner_lock_grants_total 7", "qrunner_share_readable 1",
		`qrunner_queue_entries{list="ant@lists.example.com",queue="in"} 5`, `qrunner_queue_oldest_seconds{list="ant@lists.example.com",queue="in"} 6`,
	} {
		if code != 200 || !strings.Contains(text, want) {
			t.Errorf("%d, no %q in\n%s", code, want, text)
		}
	}
	if code, text := get(t, url+"/healthz"); code != 200 || text != "ok\n" {
		t.Errorf("healthz: %d %q", code, text)
	}
}

func TestShareIsGone(t *testing.T) {
	gone := errors.New("no site marker")
	url := serve(t, Config{
		Counts:  func() Counts { return nil },
		Depths:  func(context.Context) ([]Depth, error) { return nil, gone },
		Healthy: func(context.Context) error { return gone },
	})
	if code, text := get(t, url+"/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(text, "no site marker") {
		t.Errorf("healthz: %d %q", code, text)
	}
	if code, text := get(t, url+"/metrics"); code != 200 || !strings.Contains(text, "qrunner_share_readable 0") {
		t.Errorf("metrics: %d\n%s", code, text)
	}
}
