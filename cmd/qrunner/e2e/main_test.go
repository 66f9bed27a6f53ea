package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryVar names the environment variable with the path of the binary under test. Who
// sets it tests a binary that was built elsewhere.
const binaryVar = "QRUNNER_E2E_BINARY"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain builds the binary once, as 'make build' does.
func testMain(m *testing.M) int {
	if os.Getenv(binaryVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "qrunner-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Other users run it too: Postfix's local(8), and daemons that change their user.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	bin := filepath.Join(dir, "qrunner")
	build := exec.Command("go", "build", "-o", bin, "qrunner/cmd/qrunner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary: %v\n%s", err, out)
		return 1
	}
	os.Setenv(binaryVar, bin)
	return m.Run()
}
