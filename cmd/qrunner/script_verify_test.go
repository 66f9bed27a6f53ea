package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/rogpeppe/go-internal/testscript"
)

// dkimpy verifies every DKIM signature of the file argv[2] with the records of the JSON
// file argv[1], and prints how many hold.
const dkimpy = `
import json, sys, dkim
records = json.load(open(sys.argv[1]))
dns = lambda name, timeout=5: records.get(name.decode().rstrip('.'), '').encode() or None
d = dkim.DKIM(open(sys.argv[2], 'rb').read())
n = sum(1 for name, _ in d.headers if name.lower() == b'dkim-signature')
print(sum(1 for i in range(n) if d.verify(idx=i, dnsfunc=dns)))
`

// scriptVerify is "verify DOMAIN N FILE...": each message must have N DKIM signatures of
// the domain, for go-msgauth and, where it is installed, for dkimpy, that hold with the
// records that "qrunner dkim record" prints, and cover both fields of RFC 8058 where they
// are there.
func scriptVerify(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: verify DOMAIN N FILE...")
	}
	ts.Check(ts.Exec("qrunner", "--json", "dkim", "record", args[0]))
	var rows []struct{ Name, Record string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &rows))
	records := map[string]string{}
	for _, r := range rows {
		records[strings.TrimSuffix(r.Name, ".")] = r.Record
	}
	text, err := json.Marshal(records)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("records.json"), text, 0o600))
	for _, file := range args[2:] {
		_, raw, _ := strings.Cut(ts.ReadFile(file), "\r\n") // without Return-Path
		held := 0
		found, err := dkim.VerifyWithOptions(strings.NewReader(raw), &dkim.VerifyOptions{LookupTXT: func(name string) ([]string, error) {
			return []string{records[strings.TrimSuffix(name, ".")]}, nil
		}})
		ts.Check(err)
		for _, v := range found {
			if v.Domain != args[0] {
				continue
			}
			if v.Err != nil {
				ts.Fatalf("%s: %v", file, v.Err)
			}
			held++
			signed := strings.ToLower(" " + strings.Join(v.HeaderKeys, " ") + " ")
			if strings.Contains(raw, "\r\nList-Unsubscribe-Post:") && !(strings.Contains(signed, " list-unsubscribe-post ") && strings.Contains(signed, " list-unsubscribe ")) {
				ts.Fatalf("%s: one-click fields are not signed: %s", file, signed)
			}
		}
		if strconv.Itoa(held) != args[1] {
			ts.Fatalf("%s: %d signatures hold, want %s", file, held, args[1])
		}
		ts.Check(os.WriteFile(ts.MkAbs("signed.eml"), []byte(raw), 0o600))
		out, err := exec.Command("/usr/bin/python3", "-c", dkimpy, ts.MkAbs("records.json"), ts.MkAbs("signed.eml")).CombinedOutput()
		if err != nil && os.Getenv("QRUNNER_NEED_PEERS") == "" {
			ts.Logf("dkimpy is not there: %s", out)
			continue
		}
		if strings.TrimSpace(string(out)) != args[1] {
			ts.Fatalf("%s: dkimpy: %s", file, out)
		}
	}
}
