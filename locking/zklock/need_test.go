package zklock

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// need skips a test whose peer is not installed, or fails it where all must be there.
func need(t testing.TB, pkg string) {
	t.Helper()
	ok := false
	switch pkg {
	case "zookeeper":
		_, jerr := exec.LookPath("java")
		_, zerr := os.Stat(strings.Split(classPath(), ":")[0])
		ok = jerr == nil && zerr == nil
	case "python3-kazoo":
		ok = exec.Command("/usr/bin/python3", "-c", "import kazoo").Run() == nil
	}
	switch {
	case ok:
	case os.Getenv("QRUNNER_NEED_PEERS") != "":
		t.Fatalf("the Debian package %s is not installed", pkg)
	default:
		t.Skipf("the Debian package %s is not installed", pkg)
	}
}

// classPath is where Debian has ZooKeeper.
func classPath() string {
	var jars []string
	for _, jar := range []string{
		"zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-nop", "netty-handler", "netty-common", "netty-buffer",
		"netty-transport", "metrics-core", "snappy-java", "commons-cli", "commons-io",
	} {
		jars = append(jars, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(jars, ":")
}
