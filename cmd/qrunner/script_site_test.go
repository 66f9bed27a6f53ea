package main

import (
	"os"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptSite is "site [LINE...]": it makes a share with the configuration that the
// commands of a script find, with more lines if wanted, and the list ant with the
// member anne and the owner olga.
func scriptSite(ts *testscript.TestScript, _ bool, args []string) {
	text := "host: h1\nvar: " + ts.MkAbs("share") + "\nlock: {local_dir: ''}\nlmtp: {listen: ['127.0.0.1:0', 'unix:" + ts.MkAbs("lmtp") + "']}\n" +
		"run: {poll: 100ms}\nlog: {level: error}\n"
	smarthost := ts.Getenv("SINK")
	if smarthost == "" {
		smarthost = "127.0.0.1:1" // nobody
	}
	text += "smarthost: {tls: none, address: '" + smarthost + "'}\n"
	for _, line := range args {
		text += line + "\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs("qrunner.yaml"), []byte(text), 0o600))
	ts.Setenv("QRUNNER_CONFIG", ts.MkAbs("qrunner.yaml"))
	ts.Setenv("USER", "olga")
	ts.Check(ts.Exec("qrunner", "init"))
	ts.Check(ts.Exec("qrunner", "list", "create", "ant@lists.example", "--owner", "olga@site.example"))
	ts.Check(ts.Exec("qrunner", "member", "add", "ant@lists.example", "anne@members.example"))
}

// scriptPatience bounds how long "until" looks for what it wants.
const scriptPatience = 2 * time.Minute

// scriptUntil is "until REGEXP PROGRAM ARGS...": it runs the program again and again
// until its output matches.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP PROGRAM ARGS...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(scriptPatience); ; {
		if err := ts.Exec(args[1], args[2:]...); err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("waited %v in vain for output that matches %s", scriptPatience, args[0])
		}
	}
}
