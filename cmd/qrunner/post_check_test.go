package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/queue"
	"qrunner/queue/runner"
	"qrunner/queue/spool"
	"qrunner/queue/stage"
	"qrunner/queue/trace"
)

const checkList = lists.ID("ant@lists.example.com")

// checkHouse is a share with one list, as an operator makes it.
func checkHouse(t *testing.T) (config string, h *house) {
	t.Helper()
	dir := t.TempDir()
	config = filepath.Join(dir, "c.yaml")
	text := "var: " + dir + "/share\nhost: alpha\nsite: {owner: me@example.com}\nlock: {local_dir: " + dir + "/run}\n"
	for _, err := range []error{os.WriteFile(config, []byte(text), 0o644), os.Mkdir(filepath.Join(dir, "share"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(t, config, "init")
	must(t, config, "list", "create", string(checkList), "--owner", "mona@example.org", "--set", "subject_prefix=[Ant %d]", "--set", `footer=-- \nAnt\n`,
		"--set", "moderator_password=s3cret-pw", "--set", "require_explicit_destination=no", "--set", "accept_these_nonmembers=^.*", "--set", "hold_digest=yes")
	must(t, config, "member", "add", string(checkList), "anne@example.org", "bart@example.org", "cris@example.com")
	must(t, config, "member", "set", string(checkList), "cris@example.com", "--mode", "mime_digests")
	a := &app{std: stdio{nil, os.Stdout, os.Stderr}, configFile: config}
	h, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close(context.Background()) })
	return config, h
}

// must runs a command and gives what it printed.
func must(t *testing.T, config string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"qrunner", "--config", config}, args...), stdio{strings.NewReader(""), &out, &errs}); code != 0 {
		t.Fatalf("qrunner %v: exit %d\n%s%s", args, code, out.String(), errs.String())
	}
	return out.String()
}

// samples are messages of every kind that the public collections have.
func samples(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../../../shared/repro/*.eml", "../../../shared/corpora/mail-parser/resources/eml/*/*.eml", "../../../shared/corpora/mime4j/*/*.msg"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	if len(out) == 0 {
		t.Skip("no messages in ../shared")
	}
	return out
}

// What post check says is what a real post then meets: the same verdict, the same
// recipients, the same octets but for our own dates.
func TestPostCheckIsWhatHappens(t *testing.T) {
	names := samples(t)
	config, h := checkHouse(t)
	events := make(chan trace.Event, 16)
	r := runner.New(runner.Config{
		Store: h.store, Spool: h.spool, Stages: map[queue.Name]queue.Processor{queue.In: stage.Table(h.stages())[queue.In]},
		Trace: func(_ context.Context, e trace.Event) { events <- e }, Host: h.host.Host, Clock: time.Now, Log: h.log,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	verdicts := map[string]int{}
	for _, name := range names {
		var c checked
		if err := json.Unmarshal([]byte(must(t, config, "--json", "post", "check", string(checkList), name, "--from", "anne@example.org", "--recipients", "--cooked")), &c); err != nil {
			t.Fatal(err)
		}
		raw, err := (&postCheckCmd{File: name}).read(nil)
		if err != nil {
			t.Fatal(err)
		}
		e := &queue.Entry{Queue: queue.In, List: checkList, Raw: raw}
		e.Sender, e.Target, e.Source, e.Trace = "anne@example.org", lists.Target{List: checkList}, "check", "check"
		if _, err := h.spool.Put(ctx, e); err != nil {
			t.Fatal(err)
		}
		r.Wake(checkList)
		ev := <-events
		verdicts[ev.Event]++
		if ev.Event != c.Event || !strings.HasSuffix(ev.Detail, c.Reason) && !strings.Contains(ev.Detail, c.Rule+": "+c.Reason) {
			t.Errorf("%s: %s (%s), post check said %s (%s: %s)", name, ev.Event, ev.Detail, c.Event, c.Rule, c.Reason)
		}
		cooked, to := delivered(t, h)
		if d := cmp.Diff(c.Recipients, to); d != "" {
			t.Errorf("%s: recipients: %s", name, d)
		}
		if d := cmp.Diff(undated(c.Cooked), undated(cooked)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("%d messages: %v", len(names), verdicts)
}

// delivered takes the fan-out that waits, if there is one.
func delivered(t *testing.T, h *house) (string, []mailaddr.Address) {
	t.Helper()
	dir := "queue/out/" + string(checkList)
	all, err := fs.Glob(os.DirFS(h.root.Path()), dir+"/*")
	if err != nil || len(all) == 0 {
		return "", nil
	}
	f, rs, err := spool.ReadFanout(t.Context(), h.fs, all[0])
	if err != nil {
		t.Fatal(err)
	}
	list, err := rs.Range(t.Context(), 0, rs.Len())
	if err != nil {
		t.Fatal(err)
	}
	var to []mailaddr.Address
	for _, r := range list {
		to = append(to, r.Address)
	}
	if err := os.RemoveAll(filepath.Join(h.root.Path(), all[0])); err != nil {
		t.Fatal(err)
	}
	return string(f.Raw), to
}

// undated is a copy without the time in our Received field, and without a date that we
// gave it.
func undated(raw string) string {
	raw = regexp.MustCompile("\ufffd+").ReplaceAllString(strings.ToValidUTF8(raw, "\ufffd"), "?") // JSON has no other octets
	first, rest, _ := strings.Cut(raw, "\r\nFrom")
	first = regexp.MustCompile(`(?s); \w{3}, .*?0000`).ReplaceAllString(first, "; now")
	m := message.Parse([]byte(first + "\r\nFrom" + rest))
	if m.Has("Date") && strings.HasSuffix(m.Get("Date"), "+0000") {
		m.Del("Date")
	}
	m.Del("X-Mailman-Approved-At")
	return string(m.Bytes())
}

func TestPostCheckForPeople(t *testing.T) {
	config, _ := checkHouse(t)
	file := filepath.Join(t.TempDir(), "p.eml")
	if err := os.WriteFile(file, []byte("From: anne@example.org\nTo: ant@lists.example.com\nSubject: help\n\nhi\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := must(t, config, "post", "check", string(checkList), file)
	for _, want := range []string{"administrivia", "hit: defer", "the subject looks like a command", "hit: hold", "verdict", "held", "notice to"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	must(t, config, "list", "set", string(checkList), "administrivia=no")
	out = must(t, config, "post", "check", string(checkList), file, "--recipients", "--cooked")
	for _, want := range []string{"accepted", "gets it now", "mime_digests", "1 member\n", "to", "bart@example.org", "Subject: [Ant 1] help\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	log := must(t, config, "list", "log", string(checkList), "--all")
	if strings.Contains(log, "s3cret-pw") || !strings.Contains(log, "$2a$") {
		t.Errorf("the password is in the log:\n%s", log)
	}
}
