package stage

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/liststest"
	"qrunner/queue"
)

// archivedOf is what comes of the archive's copy of a post.
func archivedOf(t *testing.T, w *world) (*queue.Entry, *queue.Outcome) {
	t.Helper()
	e := child(w.process(w.entry("anne@example.org", hello)), queue.Archive)
	if e == nil {
		t.Fatal("no copy for the archive")
	}
	e.ID = queue.NewID(liststest.Day(), 1, "test", 1)
	return e, w.process(e)
}

func TestArchiveDestinations(t *testing.T) {
	w := newWorld(t, liststest.Ant, "archive_maildir", "yes", "archive_address", "archive@a.example other@b.example",
		"archive_base_url", "https://a.example/$list_id", "footer", "foot")
	e, o := archivedOf(t, w)
	var paths []string
	for _, c := range o.Children {
		if c.File != nil {
			paths = append(paths, c.File.Path)
			if bytes.Contains(c.File.Data, []byte("foot")) || !bytes.HasSuffix(c.File.Data, []byte("\n\nhello\n")) {
				t.Errorf("%s:\n%s", c.File.Path, c.File.Data)
			}
		}
	}
	if d := cmp.Diff([]string{"archive/2024-01/cur/" + string(e.ID) + ":2,S", "archive/inbox/new/" + string(e.ID)}, paths); d != "" {
		t.Error(d)
	}
	f := sent(o)
	want := []lists.Recipient{{Kind: lists.KindNotice, Address: "archive@a.example"}, {Kind: lists.KindNotice, Address: "other@b.example"}}
	if f == nil || f.VERP || f.Bounces != "ant-bounces@lists.example.com" {
		t.Fatalf("%+v", f)
	}
	if d := cmp.Diff(want, f.Recipients); d != "" {
		t.Error(d)
	}
	if get(f.Raw, "List-Archive") != "<https://a.example/ant.lists.example.com>" || get(f.Raw, "Archived-At") != "<https://a.example/ant.lists.example.com/1@example.org/>" {
		t.Errorf("%s", f.Raw)
	}
}

func TestArchiveCommand(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "archive")
	write := func(text string) {
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("echo cannot reach >&2; exit 75\n")
	w := newWorld(t, liststest.Ant)
	l := *w.state.List() // the site sets it
	l.Settings = lists.Resolve(lists.Level{Name: "site", Values: map[string]string{"archive_command": script + " $list_id " + dir + "/got"}})
	e, _ := archivedOf(t, w)
	feed := func(stages map[queue.Name]queue.Processor) (*queue.Outcome, error) {
		return stages[queue.Archive].Process(context.Background(), &queue.Work{Entry: e, List: &l, State: w.state})
	}
	o, err := feed(Table(w.conf))
	next := child(o, queue.Archive)
	if err != nil || next == nil || next.Meta.Archiver != "command" || len(o.Children) != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	e = next
	stages := Table(w.conf)
	if _, err := feed(stages); !errors.Is(err, queue.ErrTrouble) || !strings.Contains(err.Error(), "cannot reach") {
		t.Errorf("%v", err)
	}
	write(`cat >"$2"; echo "$1" >>"$2"`)
	if _, err := feed(stages); !errors.Is(err, queue.ErrTrouble) || !strings.Contains(err.Error(), "a moment ago") {
		t.Errorf("it is tried again at once: %v", err)
	}
	o, err = feed(Table(w.conf))
	if err != nil || o.Event != "archived" || len(o.Children) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	if got, _ := os.ReadFile(dir + "/got"); !bytes.Equal(got, append(next.Raw, "ant.lists.example.com\n"...)) {
		t.Errorf("it got %q", got)
	}
}
