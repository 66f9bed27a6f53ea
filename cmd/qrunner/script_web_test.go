package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCopy is "copy RECIPIENT REGEXP FILE": it waits until the smarthost has a message
// for the recipient that matches, and writes the newest such message to a file, under the
// envelope sender as Return-Path.
func scriptCopy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: copy RECIPIENT REGEXP FILE")
	}
	box := mailOf(ts).sink
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	for end := time.Now().Add(scriptPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		all := box.Messages()
		for i := len(all) - 1; i >= 0; i-- {
			if strings.Join(all[i].Recipients, " ") == args[0] && want.Match(all[i].Raw) {
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), append([]byte("Return-Path: <"+all[i].Sender+">\r\n"), all[i].Raw...), 0o600))
				return
			}
		}
	}
	ts.Fatalf("waited %v in vain for a copy to %s that matches %s", scriptPatience, args[0], args[1])
}

// scriptPort is "port": it finds a free port for $PORT.
func scriptPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: port")
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv("PORT", port)
}

// https finds a URL in a message.
const https = `https://[^/>\s]+(/[^>\s]+)`

// scriptHTTP is "http STATUS METHOD TARGET [TYPE BODY]": it sends a request to what
// listens on $PORT and looks at the status; the page is in the file "page". TARGET is a
// path, or the name of a file with a message: the path then is that of its first https
// URL. The address of the URL, behind a certificate, is played by $PORT.
func scriptHTTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 && len(args) != 5 {
		ts.Fatalf("usage: http STATUS METHOD TARGET [TYPE BODY]")
	}
	path, kind, body := args[2], "", ""
	if len(args) == 5 {
		kind, body = args[3], strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(args[4])
	}
	if !strings.HasPrefix(path, "/") {
		found := regexp.MustCompile(https).FindStringSubmatch(ts.ReadFile(path))
		if found == nil {
			ts.Fatalf("no https URL in %s", path)
		}
		path = found[1]
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var res *http.Response
	for end := time.Now().Add(scriptPatience); ; time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequestWithContext(context.Background(), args[1], "http://127.0.0.1:"+ts.Getenv("PORT")+path, bytes.NewReader([]byte(body)))
		ts.Check(err)
		if kind != "" {
			req.Header.Set("Content-Type", kind)
		}
		if res, err = http.DefaultTransport.RoundTrip(req); err == nil {
			break
		}
		if time.Now().After(end) { // it may not be up yet
			ts.Check(err)
		}
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("page"), page, 0o600))
	if res.StatusCode != want || res.Header.Get("Set-Cookie") != "" || res.Header.Get("Location") != "" {
		ts.Fatalf("status %s, want %d; %v\n%s", res.Status, want, res.Header, page)
	}
}
