package nfstest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qrunner/locking/fsys"
)

// TestJudge reads the log. It is run on the server, which has no caches in between.
func TestJudge(t *testing.T) {
	p := open(t)
	list, err := p.share.ReadDir(logDir)
	if err != nil {
		t.Fatal(err)
	}
	records := map[uint64]string{}
	var n, highest, fences, commits uint64
	for _, e := range list {
		if strings.HasPrefix(e.Name, "tmp.") || strings.HasPrefix(e.Name, ".nfs") {
			continue
		}
		n++
		if want := fmt.Sprintf("%020d", n); e.Name != want {
			t.Fatalf("gap in the log: %s instead of %s", e.Name, want)
		}
		data, err := fsys.ReadFile(p.share, logDir+"/"+e.Name, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		records[n] = string(data)
		var id string
		var token, k uint64
		if c, _ := fmt.Sscanf(string(data), "%s commit %d %d", &id, &token, &k); c < 3 {
			highest, fences = n, fences+1
			continue
		}
		commits++
		if token != highest {
			t.Errorf("record %d: grant %d committed after grant %d", n, token, highest)
		}
		if by := records[token]; !strings.HasPrefix(by, id+" ") {
			t.Errorf("record %d: %s committed under the grant of %q", n, id, by)
		}
	}
	p.acknowledged(records)
	fmt.Printf("judge: %d grants, %d commits\n", fences, commits)
	if want := number(t, envGrant, 0); fences < uint64(want) {
		t.Errorf("%d grants, want %d at least", fences, want)
	}
}

// acknowledged: what was reported done is in the log, and stays.
func (p *place) acknowledged(records map[uint64]string) {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.talk, "acks.*"))
	if err != nil || len(files) == 0 {
		p.Fatalf("no reports: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			p.Fatal(err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var n uint64
			num, text, _ := strings.Cut(lines.Text(), " ")
			if _, err := fmt.Sscan(num, &n); err != nil {
				continue // cut off by a power cut
			}
			if records[n] != text {
				p.Errorf("record %d is %q, reported %q", n, records[n], text)
			}
		}
		_ = f.Close()
	}
}
