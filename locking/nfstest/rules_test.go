package nfstest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"qrunner/locking/fsys"
)

// within bounds how long the machines of the rig may take for one thing.
const within = 2 * time.Minute

// The rules of NFS that the lock file rests on, and that simfs models, asked of real
// kernels: TestRules looks on one machine at what TestRulesActor does on another.

// TestRulesActor does what TestRules asks for, until it asks for no more.
func TestRulesActor(t *testing.T) {
	p := open(t)
	for n := 1; ; n++ {
		verb, names, _ := strings.Cut(p.told(fmt.Sprintf("ask.%d", n), within), " ")
		old, name, _ := strings.Cut(names, " ")
		var err error
		switch verb {
		case "make":
			err = fsys.WriteNew(p.share, old, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
		case "link":
			err = p.share.Link(old, name)
		case "rename":
			err = p.share.Rename(old, name)
		case "done":
			return
		default:
			err = errors.New("what?")
		}
		p.tell(fmt.Sprintf("answer.%d", n), fmt.Sprint(err))
	}
}

// rules is the machine that looks.
type rules struct {
	*place
	asked int
}

// ask has the other machine do something and returns when it is done.
func (r *rules) ask(words ...string) {
	r.Helper()
	r.asked++
	r.tell(fmt.Sprintf("ask.%d", r.asked), strings.Join(words, " "))
	if got := r.told(fmt.Sprintf("answer.%d", r.asked), within); got != "<nil>" {
		r.Fatalf("%v: %s", words, got)
	}
}

// own makes a file of this machine.
func (r *rules) own(name string) fsys.Info {
	r.Helper()
	err := fsys.WriteNew(r.share, name, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err })
	if err != nil {
		r.Fatal(err)
	}
	st, err := r.share.Stat(name)
	if err != nil {
		r.Fatal(err)
	}
	return st
}

// stays measures how long something false stays true. It is for figures: how long
// depends on mount options and history; that it may is what simfs models.
func (r *rules) stays(what string, still func() bool) {
	r.Helper()
	start := time.Now()
	most := duration(r.T, envFor, within)
	for still() && time.Since(start) < most {
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Printf("rule: %s: stale for %.1f s (watched for %v at most)\n", what, time.Since(start).Seconds(), most)
}

// must is a fact that correctness rests on.
func (r *rules) must(what string, ok bool, detail ...any) {
	r.Helper()
	word := "ok"
	if !ok {
		word = "BROKEN"
		r.Errorf("%s: %v", what, detail)
	}
	fmt.Printf("rule: %s: %s\n", what, word)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// TestRules measures what goes stale and asserts what must not.
func TestRules(t *testing.T) {
	r := &rules{place: open(t)}
	defer func() { r.tell(fmt.Sprintf("ask.%d", r.asked+1), "done") }()
	dir := func(name string) string {
		if err := r.share.Mkdir(name, 0o770); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // out of the server's tick
		return name + "/"
	}
	r.names(dir("r1"))
	r.links(dir("r2"))
	r.listings(dir("r3"))
	r.replaced(dir("r4"))
	r.silly(dir("r5"))
}

// names: a name that was looked up too early stays missing, but not for our own link.
func (r *rules) names(d string) {
	r.own(d + "mine")
	_, err := r.share.Stat(d + "x")
	r.must("a name nobody made is missing", missing(err), err)
	r.ask("make", d+"x")
	err = r.share.Link(d+"mine", d+"x")
	r.must("our own link onto a name just made elsewhere fails with EEXIST", errors.Is(err, fs.ErrExist), err)
	_, err = r.share.Stat(d + "x")
	r.must("a failing link of our own makes the name fresh", err == nil, err)

	_, _ = r.share.Stat(d + "y")
	r.ask("make", d+"y")
	r.stays("stat of a name made elsewhere answers ENOENT", func() bool { _, err := r.share.Stat(d + "y"); return missing(err) })
}

// links: the count and time of our own file are fresh after UTIME_NOW.
func (r *rules) links(d string) {
	r.own(d + "mine")
	r.ask("link", d+"mine", d+"other")
	st, err := r.share.Stat(d + "mine")
	fmt.Printf("rule: links of our own file after a link elsewhere, without a touch: %d (%v)\n", st.Nlink, err)
	before := st.Mtime
	terr := r.share.Touch(d + "mine")
	st, err = r.share.Stat(d + "mine")
	r.must("links of our own file are fresh after a touch", terr == nil && err == nil && st.Nlink == 2, terr, err, st.Nlink)
	r.must("mtime after a touch is the server's and moves", !st.Mtime.Before(before), before, st.Mtime)

	r.own(d + "late")
	err = r.share.Link(d+"late", d+"other")
	st, _ = r.share.Stat(d + "late")
	r.must("a link onto a taken name fails and adds no name", errors.Is(err, fs.ErrExist) && st.Nlink == 1, err, st.Nlink)
}

// listings: what another made is in a listing after a change of our own.
func (r *rules) listings(d string) {
	for i := range 20 {
		r.own(fmt.Sprintf("%sa%d", d, i))
		_, _ = r.share.ReadDir(strings.TrimSuffix(d, "/"))
		r.ask("make", fmt.Sprintf("%sb%d", d, i))
		there, err := fsys.Listed(r.share, fmt.Sprintf("%sb%d", d, i))
		if err != nil || !there {
			r.must("a listing after a touch of the folder shows all", false, i, err)
			return
		}
	}
	r.must("a listing after a touch of the folder shows all (20 rounds)", true)
}

// opens returns the number of the file that opening name gives; 0 if none.
func (r *rules) opens(name string) uint64 {
	f, err := r.share.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return st.Ino
}

// replaced: a name that was open here gives the old file for a while, if that has another
// name still, as a broken lock has its claim: with none left its handle is stale, and
// the name is looked up anew. A listing after a change of our own has the new number.
func (r *rules) replaced(d string) {
	old := r.own(d + "x")
	if err := r.share.Link(d+"x", d+"claim"); err != nil {
		r.Fatal(err)
	}
	r.opens(d + "x")
	r.ask("make", d+"new")
	r.ask("rename", d+"new", d+"x")
	r.stays("open of a name renamed over elsewhere gives the old file", func() bool { return r.opens(d+"x") == old.Ino })

	old = r.own(d + "y")
	r.opens(d + "y")
	r.ask("rename", d+"y", d+"away")
	r.stays("open of a name renamed away elsewhere gives the old file", func() bool { return r.opens(d+"y") == old.Ino })

	old = r.own(d + "z")
	r.opens(d + "z")
	r.ask("make", d+"newz")
	r.ask("rename", d+"newz", d+"z")
	got := r.opens(d + "z")
	r.must("a name whose replaced file is gone opens the new one", got != 0 && got != old.Ino, got)

	old, err := r.share.Stat(d + "x")
	if err != nil {
		r.Fatal(err)
	}
	r.ask("make", d+"newer")
	r.ask("rename", d+"newer", d+"x")
	list, err := r.list(d)
	e, _ := fsys.Find(list, "x")
	r.must("a listing after a touch has the new file's number", err == nil && e.Ino != old.Ino, err)
}

// silly: a rename over a file that is open here gives it another name first.
func (r *rules) silly(d string) {
	old := r.own(d + "lock")
	if err := r.share.Link(d+"lock", d+"claim"); err != nil {
		r.Fatal(err)
	}
	f, err := r.share.OpenFile(d+"lock", os.O_RDONLY, 0)
	if err != nil {
		r.Fatal(err)
	}
	r.own(d + "second")
	err = r.share.Rename(d+"second", d+"lock")
	_ = r.share.Touch(d + "claim")
	st, _ := r.share.Stat(d + "claim")
	list, lerr := r.list(d)
	e, _ := fsys.Find(list, "lock")
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name)
	}
	fmt.Printf("rule: rename over a file that is open here: links of the old file %d, names %v\n", st.Nlink, names)
	r.must("then too a listing shows whose the name is", err == nil && lerr == nil && e.Ino != old.Ino && e.Ino != 0, err, lerr)
	_ = f.Close()
}

// list touches a folder and lists it.
func (r *rules) list(d string) ([]fsys.DirEntry, error) {
	dir, err := r.share.OpenDir(strings.TrimSuffix(d, "/"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Touch(); err != nil {
		return nil, err
	}
	return dir.ReadDir()
}
