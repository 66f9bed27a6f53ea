package e2e

import (
	"os"
	"os/exec"
	"testing"
)

// needPeers in the environment turns a missing peer from a skip into a failure.
const needPeers = "QRUNNER_NEED_PEERS"

// need skips the test unless the Debian package is installed. Where peers are a must,
// it fails instead.
func need(t *testing.T, pkg string) {
	t.Helper()
	out, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Status}", pkg).Output()
	if err != nil || string(out) != "installed" {
		missing(t, "the Debian package "+pkg+" is not installed")
	}
}

// needRoot is need for what only root may do.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "this test runs as root only")
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv(needPeers) != "" {
		t.Fatal(what + ", and " + needPeers + " is set")
	}
	t.Skip(what)
}
