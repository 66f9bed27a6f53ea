package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/queuetest"
)

// TestKillAtCalls kills the daemon right at system calls that change the share, one
// after the other, while it works on a post: none is lost, and nobody gets more than
// one copy too many for each death.
func TestKillAtCalls(t *testing.T) {
	need(t, "strace")
	t.Parallel() // a breaker that died keeps the next one waiting for a minute
	const list, members = "ant@lists.example.com", 3
	sink, addr := newSink(t, queuetest.SinkConfig{})
	h := newHost(t, "a", shortLocks, func(c *config.Config) { c.Smarthost.Address = addr })
	h.list(list, members)
	var want []string
	deaths := 0
	for _, call := range []string{"linkat", "renameat", "unlinkat", "mkdirat", "fsync", "write"} {
		for n := 1; n <= 2; n++ {
			id := fmt.Sprintf("%s.%d@posts.example", call, n)
			want = append(want, id)
			if r := h.run(message(poster, list, id), "deliver", "-f", poster, list); r.code != 0 {
				t.Fatal(r)
			}
			cmd := exec.CommandContext(t.Context(), "strace", "-f", "-q", "-o", os.DevNull, "-e", "trace="+call,
				"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), os.Getenv(binaryVar), "run")
			cmd.Env = append(os.Environ(), "QRUNNER_CONFIG="+h.file)
			d := h.follow(cmd)
			dead := false
			until(t, "the daemon's death or the end of its work", func() bool {
				select {
				case <-d.done:
					dead = true
				default:
				}
				return dead || distinct(count(sink)) == len(want)*members && len(h.files("queue/out")) == 0
			})
			if dead {
				deaths++
			}
			d.kill()
		}
	}
	d := h.start()
	until(t, "every copy", func() bool { return distinct(count(sink)) == len(want)*members })
	h.idle()
	d.stop()
	extra := sink.Stats().Duplicates
	t.Logf("%d deaths, %d copies too many", deaths, extra)
	if deaths < len(want)/2 {
		t.Errorf("only %d of %d runs ended in death", deaths, len(want))
	}
	if extra > deaths*members {
		t.Errorf("%d copies too many after %d deaths", extra, deaths)
	}
	if left := append(h.files("queue/shunt"), h.files("queue/bad")...); len(left) > 0 {
		t.Errorf("parked: %v", left)
	}
}
