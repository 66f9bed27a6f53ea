package status

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collector turns figures into metrics when they are asked for.
type collector struct{ c Config }

// Describe sends nothing: which metrics there are depends on queues and counters.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends what there is now.
func (s *collector) Collect(ch chan<- prometheus.Metric) {
	for _, n := range s.c.Counts() {
		var names, values []string
		if n.Label != "" {
			names, values = []string{n.Label}, []string{n.Value}
		}
		desc := prometheus.NewDesc("qrunner_"+n.Name, n.Help, names, nil)
		ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, n.N, values...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	depths, err := s.c.Depths(ctx)
	up := 1.0
	if err != nil {
		up = 0
		s.c.Log.WarnContext(ctx, "measure queues", "err", err)
	}
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("qrunner_share_readable", "1 if the queues could be listed.", nil, nil), prometheus.GaugeValue, up)
	labels := []string{"queue", "list"}
	entries := prometheus.NewDesc("qrunner_queue_entries", "Entries in a queue of a list.", labels, nil)
	oldest := prometheus.NewDesc("qrunner_queue_oldest_seconds", "Age of the oldest entry.", labels, nil)
	for _, d := range depths {
		ch <- prometheus.MustNewConstMetric(entries, prometheus.GaugeValue, float64(d.Entries), string(d.Queue), string(d.List))
		ch <- prometheus.MustNewConstMetric(oldest, prometheus.GaugeValue, time.Since(d.Oldest).Seconds(), string(d.Queue), string(d.List))
	}
}
