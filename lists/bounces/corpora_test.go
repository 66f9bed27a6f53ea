package bounces

import (
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpora is where the public samples lie beside the tree.
const corpora = "../../../shared/corpora"

func corpusFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{corpora}, path...)...))
	if os.IsNotExist(err) {
		t.Skipf("no %s: the samples are not in the tree", filepath.Join(path...))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rows reads a table of expected values: tab-separated, comments with "#".
func rows(b []byte) [][]string {
	var out [][]string
	for l := range strings.SplitSeq(string(b), "\n") {
		if l != "" && l[0] != '#' {
			out = append(out, strings.Split(l, "\t"))
		}
	}
	return out
}

// halfOf splits the samples at random, but always alike.
func halfOf(name string) int {
	h := fnv.New32a()
	h.Write([]byte("half:" + name))
	return int(h.Sum32()>>7) & 1
}

type tally struct{ files, found, rows, class, reason int }

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// classWanted is the class of a row of sisimai's table.
func classWanted(row []string) Class {
	switch {
	case row[5] == "true":
		return Hard
	case row[4] == "vacation" || row[4] == "feedback" || row[4] == "delivered":
		return None
	}
	return Soft
}

func TestSisimai(t *testing.T) {
	byFile := map[string][][]string{}
	var names []string
	for _, r := range rows(corpusFile(t, "sisimai", "expected.tsv")) {
		name := filepath.Base(r[0])
		if byFile[name] == nil {
			names = append(names, name)
		}
		byFile[name] = append(byFile[name], r)
	}
	var half [2]tally
	for _, name := range names {
		report := Scan(corpusFile(t, "sisimai", "bsd", name))
		n := &half[halfOf(name)]
		n.files++
		want := byFile[name]
		if len(want) > 1 && want[0][1] == want[1][1] { // one recipient, twice in their tests
			want = want[:1]
		}
		if len(report.Recipients) >= len(want) {
			n.found++
		} else {
			t.Logf("%s: %s, %d of %d recipients", name, report.Kind, len(report.Recipients), len(want))
		}
		for i, w := range want {
			n.rows++
			var got Result
			if i < len(report.Recipients) {
				got = report.Recipients[i]
			}
			if class := classWanted(w); got.Class == class || got.Class == Complained && class == None {
				n.class++
			} else {
				t.Logf("%s/%d class %s, want %s (%s) by %s: %.150q", name, i, got.Class, classWanted(w), w[4], got.Detector, got.Diagnostic)
			}
			if string(got.Reason) == w[4] {
				n.reason++
			} else {
				t.Logf("%s/%d reason %s, want %s [%s %s] by %s: %s %d %.150q", name, i, got.Reason, w[4], w[2], w[3], got.Detector, got.Status, got.Reply, got.Diagnostic)
			}
		}
	}
	all := tally{half[0].files + half[1].files, half[0].found + half[1].found, half[0].rows + half[1].rows,
		half[0].class + half[1].class, half[0].reason + half[1].reason}
	for i, n := range []tally{half[0], half[1], all} {
		t.Logf("%s: %d files, found %.1f %%, class %.1f %%, reason %.1f %%", []string{"develop", "check", "all"}[i], n.files,
			percent(n.found, n.files), percent(n.class, n.rows), percent(n.reason, n.rows))
	}
	if percent(all.found, all.files) < 99 || percent(all.class, all.rows) < 97 || percent(all.reason, all.rows) < 90 {
		t.Error("below the figures of docs/bounces.md")
	}
}

// TestTextOnly hides the machine-readable part of all samples that have one: the
// detectors for text must find the same recipient. They were not written for these
// texts, so this shows how they do on what nobody has looked at.
func TestTextOnly(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(corpora, "sisimai", "bsd", "*.eml"))
	if err != nil || len(names) == 0 {
		t.Skip("no samples of sisimai in the tree")
	}
	n, found, class := 0, 0, 0
	for _, name := range names {
		raw := string(corpusFile(t, "sisimai", "bsd", filepath.Base(name)))
		want := Scan([]byte(raw))
		if !strings.Contains(raw, "message/delivery-status") || len(want.Recipients) == 0 {
			continue
		}
		n++
		got := Scan([]byte(strings.ReplaceAll(raw, "message/delivery-status", "application/x-hidden")))
		if len(got.Recipients) == 0 {
			t.Logf("%s: %s, no recipient", filepath.Base(name), got.Kind)
			continue
		}
		if a := got.Recipients[0]; a.Address.Key() == want.Recipients[0].Address.Key() || a.Alias.Key() == want.Recipients[0].Address.Key() {
			found++
			if a.Class == want.Recipients[0].Class {
				class++
			}
		}
	}
	t.Logf("%d samples: recipient found %.1f %%, same class %.1f %%", n, percent(found, n), percent(class, n))
	if percent(found, n) < 85 {
		t.Error("below the figure of docs/bounces.md")
	}
}

func TestFlufl(t *testing.T) {
	for _, r := range rows(corpusFile(t, "flufl.bounce", "expected.tsv")) {
		report := Scan(corpusFile(t, "flufl.bounce", "data", r[0]))
		var temp, perm []string
		for _, x := range report.Recipients {
			switch {
			case x.Class == None:
			case x.Permanent:
				perm = append(perm, x.Address.Key())
			default:
				temp = append(temp, x.Address.Key())
			}
		}
		if !sameSet(r[5], temp) || !sameSet(r[6], perm) {
			t.Errorf("%s: temporary %v, permanent %v, want %s, %s: %+v", r[0], temp, perm, r[5], r[6], report)
		}
	}
}

// sameSet compares a list of addresses of the table with ours.
func sameSet(want string, got []string) bool {
	var w []string
	if want != "-" {
		w = strings.Split(strings.ToLower(want), ",")
	}
	slices.Sort(w)
	slices.Sort(got)
	return slices.Equal(w, got)
}

func TestBounceParser(t *testing.T) {
	dir := filepath.Join(corpora, "bounceparser", "corpus")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Skip("no samples of bounceparser in the tree")
	}
	harmless := map[string]Kind{
		"aol-vacation.msg": AutoReply, "autoreply.msg": AutoReply, "polish-autoreply.msg": AutoReply, "bluebottle.msg": Challenge,
		"boxbe-cr2.msg": Challenge, "spam-lots-of-bogus-addresses.msg": NotABounce,
	}
	// No text at all, and an address that is none.
	nameless := map[string]bool{"no-message-collected.msg": true, "sendmail-host-unknown.msg": true}
	for _, f := range files {
		report := Scan(corpusFile(t, "bounceparser", "corpus", f.Name()))
		want, ok := harmless[f.Name()]
		if !ok {
			want = Bounce
		}
		if report.Kind != want {
			t.Errorf("%s: %s, want %s: %+v", f.Name(), report.Kind, want, report.Recipients)
		}
		for _, x := range report.Recipients {
			if ok && x.Class != None {
				t.Errorf("%s: false bounce of %s", f.Name(), x.Address)
			}
			if strings.HasPrefix(f.Name(), "spam-") && !x.Policy && want == Bounce {
				t.Errorf("%s: %s for spam", f.Name(), x.Reason)
			}
		}
		if want == Bounce && len(report.Recipients) == 0 && !nameless[f.Name()] {
			t.Errorf("%s: no recipient", f.Name())
		}
	}
}
