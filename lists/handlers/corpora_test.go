package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/handlers"
	"qrunner/lists/liststest"
	"qrunner/lists/message"
)

// shared is where the project's public test mail lies, if it is there.
const shared = "../../../shared"

// changed are the fields that the pipeline may add or take off without any setting that
// asks for it; of those that RFC 5322 allows once it may take a second one off.
var changed = []string{
	"Received", "X-BeenThere", "Precedence", "Date", "Message-ID", "List-Id", "List-Post", "List-Help", "List-Subscribe", "List-Unsubscribe", "List-Owner",
	"Archived-At", "Bcc", "Delivered-To", "Disposition-Notification-To", "Return-Path", "Return-Receipt-To", "Urgent", "X-Confirm-Reading-To",
	"X-Envelope-From", "X-Envelope-To", "X-MailFrom", "X-Original-To", "X-PMRQC", "Approved", "Approve", "X-Approved", "X-Approve",
}

// others are the other fields, octet for octet: the first of each name that may be there
// once.
func others(m, came *message.Message) []string {
	once := map[string]bool{"from": true, "sender": true, "reply-to": true, "subject": true, "in-reply-to": true, "references": true, "mime-version": true, "content-type": true, "content-transfer-encoding": true}
	seen := map[string]bool{}
	var out []string
	for _, f := range m.Fields() {
		name := strings.ToLower(f.Name)
		if oneOf(f.Name, changed) || strings.HasPrefix(name, "list-") || once[name] && seen[name] || (name == "to" || name == "cc") && len(came.All(name)) > 1 {
			continue
		}
		seen[name] = true
		out = append(out, string(f.Raw))
	}
	return out
}

func oneOf(name string, names []string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// Of every message there is, a list that decorates nothing changes the listed fields and
// no other octet; and no setting makes it fail.
func TestEveryMail(t *testing.T) {
	n := 0
	for _, dir := range []string{"corpora", "repro"} {
		err := filepath.WalkDir(filepath.Join(shared, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || slices.Contains([]string{".txt", ".md", ".xml", ".json", ".yml", ".tsv"}, filepath.Ext(path)) {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 1<<20 {
				return err
			}
			n++
			for i, s := range goldenSettings {
				// Under most settings every fourth message has to do.
				if s.settings == nil || s.name == "untouched" || (n+i)%4 == 0 {
					throughList(t, path, raw, s.name, s.settings)
				}
			}
			return nil
		})
		if os.IsNotExist(err) {
			t.Skipf("no test mail in %s", shared)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d messages", n)
}

// throughList sends a message through a list with settings.
func throughList(t *testing.T, path string, raw []byte, name string, settings []string) {
	t.Helper()
	p := liststest.Post(liststest.List(liststest.Members(), settings...), "anne@example.org", "")
	p.Message = message.Parse(raw)
	handlers.Protect(p)
	err := handlers.Run(context.Background(), p)
	var disposed *lists.Disposal
	if errors.As(err, &disposed) {
		return
	}
	if err != nil {
		t.Errorf("%s, %s: %v", path, name, err)
		return
	}
	if name != "untouched" && message.Parse(raw).Has("From") { // untouched keeps what the author signed, whatever it is
		for _, broken := range liststest.BreaksRFC(p.Message.Wire(), raw) {
			t.Errorf("%s, %s: %s", path, name, broken)
		}
	}
	if name != "bare" && name != "untouched" {
		return
	}
	came := message.Parse(raw)
	if !bytes.Equal(came.Body(), p.Message.Body()) {
		t.Errorf("%s, %s: another body", path, name)
	}
	if d := cmp.Diff(others(came, came), others(p.Message, came)); d != "" {
		t.Errorf("%s, %s: %s", path, name, d)
	}
}

// Whatever comes, the handlers neither fail nor make of it what breaks the RFCs.
func FuzzHandlers(f *testing.F) {
	files, err := filepath.Glob("testdata/golden/in/*.eml")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")), uint8(i))
	}
	f.Fuzz(func(t *testing.T, raw []byte, n uint8) {
		s := goldenSettings[int(n)%len(goldenSettings)]
		throughList(t, "fuzzed", raw, s.name, s.settings)
	})
}
