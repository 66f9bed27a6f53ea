package lockfile

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestStatsInALogLine(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("stopped", "locks", Stats{
		Grants: 3, HandOvers: 1, Breaks: map[Reason]int64{Expired: 1, Dead: 2}, Waited: 1500 * time.Millisecond,
	})
	want := `"locks":{"grants":3,"hand_overs":1,"breaks":{"dead":2,"expired":1},"waited_seconds":1.5}}`
	if !strings.Contains(out.String(), want) {
		t.Errorf("got %swant ... %s", out.String(), want)
	}
}
