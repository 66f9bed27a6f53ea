package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// The pipe target runs itself as /proc/self/exe.
	testscript.Main(m, map[string]func(){"qrunner": main, "mailman": main, "exe": main})
}

// TestScripts runs the commands as a shell would. In the scripts "status N PROGRAM
// ARGS..." is exec of a program that has to end with the status N; for mail see
// script_mail_test.go; the condition [root] is for what only root can try.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: scriptSetup,
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			return os.Getuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": scriptStatus, "site": scriptSite, "until": scriptUntil, "sink": scriptSink,
			"copy": scriptCopy, "port": scriptPort, "http": scriptHTTP, "verify": scriptVerify,
			"lmtp": scriptLMTP, "gets": scriptGets, "got": scriptGot, "answer": scriptAnswer, "both": scriptBoth,
		},
	})
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}
