package bounces

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// BenchmarkScan reads all samples over and over; the figure is one message.
func BenchmarkScan(b *testing.B) {
	var raw [][]byte
	for _, pattern := range []string{"sisimai/bsd/*.eml", "flufl.bounce/data/*", "bounceparser/corpus/*"} {
		names, err := filepath.Glob(filepath.Join(corpora, pattern))
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range names {
			data, err := os.ReadFile(n)
			if err != nil {
				b.Fatal(err)
			}
			raw = append(raw, data)
		}
	}
	if len(raw) == 0 {
		b.Skip("no samples in the tree")
	}
	i, before := 0, processorTime(b)
	for b.Loop() {
		Scan(raw[i%len(raw)])
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "bounces/s")
	// What counts where others use the processor too.
	b.ReportMetric(float64(b.N)/(processorTime(b)-before).Seconds(), "bounces/cpu-s")
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
