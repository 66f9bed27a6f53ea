package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"qrunner/locking/zklock/zkreal"
)

// inside is what a process does with the lock, in shell, as kazoo_client.py does: it leaves
// a mark, looks for marks that must not be there, and adds one to a counter in two steps.
const inside = `cd "$1"; mark=$2.$$; : >$mark
for f in w.* r.*; do
  case $f in $mark|"w.*"|"r.*") ;; w.*) echo "$mark sees $f" >>violations ;;
  r.*) if [ $2 = w ]; then echo "$mark sees $f" >>violations; else : >overlap; fi ;; esac
done
if [ $2 = w ]; then n=$(cat counter); echo -n $((n+1)) >counter; else sleep 0.05; fi
rm $mark`

// zkKazoo has processes of kazoo and 'lock run' increment a counter, and readers of both
// among them.
func zkKazoo(t *testing.T, e *zkreal.Ensemble) {
	need(t, "python3-kazoo")
	kazoo, ours := 50, 12 // rounds of each process
	if long {
		kazoo, ours = 125, 125
	}
	writers := zkTogether(t, e, "/kazoo/writers", 4*kazoo+4*ours, []contender{
		{"Lock", kazoo}, {"Lock", kazoo}, {"WriteLock", kazoo}, {"WriteLock", kazoo}, {"w", ours}, {"w", ours}, {"w", ours}, {"w", ours},
	})
	if _, err := os.Stat(filepath.Join(writers, "overlap")); err == nil {
		t.Error("readers met, where there are none")
	}
	zkTogether(t, e, "/kazoo/readers", kazoo+ours, []contender{
		{"ReadLock", kazoo}, {"ReadLock", kazoo}, {"r", ours}, {"r", ours}, {"WriteLock", kazoo}, {"w", ours},
	})
}

// contender is a process: of kazoo, or one of ours for each round, which reads ("r") or
// writes ("w").
type contender struct {
	kind   string
	rounds int
}

// zkTogether runs clients on one lock and checks that the counter says want, and that nobody
// saw whom he must not.
func zkTogether(t *testing.T, e *zkreal.Ensemble, node string, want int, clients []contender) (folder string) {
	h := &host{t: t, file: "/nonexistent"}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "counter"), []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			if len(c.kind) > 1 {
				cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "../../../locking/zklock/testdata/kazoo_client.py",
					strings.Join(e.Addrs(), ","), node, c.kind, fmt.Sprint(c.rounds), folder, fmt.Sprint("k", i))
				if r := finish(t, cmd, ""); r.code != 0 || !strings.Contains(r.out, "violations 0") {
					t.Errorf("kazoo's %s: %v", c.kind, r)
				}
				return
			}
			args := zkRun(h, e, "--naming", "kazoo")
			if c.kind == "r" {
				args = append(args, "--shared")
			}
			for range c.rounds {
				if r := h.run("", append(args, node, "--", "sh", "-c", inside, "sh", folder, c.kind)...); r.code != 0 {
					t.Errorf("lock run: %v", r)
					return
				}
			}
		})
	}
	wg.Wait()
	if b, err := os.ReadFile(filepath.Join(folder, "counter")); err != nil || strings.TrimSpace(string(b)) != fmt.Sprint(want) {
		t.Errorf("the counter says %q after %d additions (%v)", b, want, err)
	}
	if b, err := os.ReadFile(filepath.Join(folder, "violations")); err == nil {
		t.Errorf("exclusion: %s", b)
	}
	return folder
}
