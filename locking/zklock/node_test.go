package zklock

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"qrunner/locking"
)

const guidA = "0123456789abcdef0123456789abcdef"

func TestParseNode(t *testing.T) {
	type result struct {
		Seq  int32
		Mode locking.Mode
		OK   bool
	}
	for name, want := range map[string]result{
		guidA + "-x-0000000000":              {0, locking.Exclusive, true},
		guidA + "-s-0000000012":              {12, locking.Shared, true},
		guidA + "-x-2147483647":              {math.MaxInt32, locking.Exclusive, true},
		guidA + "-x--2147483648":             {math.MinInt32, locking.Exclusive, true},
		guidA + "-x--000000005":              {-5, locking.Exclusive, true},
		guidA + "__lock__0000000007":         {7, locking.Exclusive, true},
		guidA + "__rlock__0000000007":        {7, locking.Shared, true},
		guidA + "__lock__-2147483648":        {math.MinInt32, locking.Exclusive, true},
		"anything__lock__0000000007":         {7, locking.Exclusive, true},
		"__rlock__0000000007":                {7, locking.Shared, true},
		guidA + "-x-2147483648":              {},
		guidA + "-x-00000000012":             {},
		guidA + "-x-12":                      {},
		guidA + "-x-":                        {},
		guidA + "-x-+000000012":              {},
		guidA[:31] + "-x-0000000001":         {},
		guidA[:31] + "G-x-0000000001":        {},
		"_c_x":                               {},
		"_c_" + guidA + "-lock-0000000001":   {},
		guidA + "__LOCK__0000000007":         {},
		guidA + "__lock__0000000007.bak":     {},
		"":                                   {},
		"list@example.org":                   {},
		"_c_" + guidA + "-__READ__000000001": {},
	} {
		n, ok := parseNode(name)
		if got := (result{n.seq, n.mode, ok}); got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
}

// name is a node's name as the server makes it.
func name(n Naming, m locking.Mode, seq int32) string {
	return fmt.Sprintf("%s%010d", prefix(n, guidA, m), seq)
}

func TestNamesRoundTrip(t *testing.T) {
	for _, naming := range []Naming{NamingQrunner, NamingKazoo} {
		for _, mode := range []locking.Mode{locking.Exclusive, locking.Shared} {
			for _, seq := range []int32{0, 1, 9999, math.MaxInt32, math.MinInt32, -1} {
				s := name(naming, mode, seq)
				n, ok := parseNode(s)
				if want := (node{s, seq, mode}); !ok || n != want {
					t.Errorf("%q: got %+v %v", s, n, ok)
				}
				if checkSegment(s) == nil {
					t.Errorf("%q may be part of a key", s)
				}
			}
		}
	}
}

func TestPredecessor(t *testing.T) {
	x, s := locking.Exclusive, locking.Shared
	type c struct {
		m   locking.Mode
		seq int32
	}
	for label, test := range map[string]struct {
		others []c
		own    c
		want   int32
		wait   bool
	}{
		"alone":                              {nil, c{x, 5}, 0, false},
		"writer behind writers":              {[]c{{x, 2}, {x, 4}, {x, 3}}, c{x, 5}, 4, true},
		"writer behind reader":               {[]c{{x, 2}, {s, 4}}, c{x, 5}, 4, true},
		"reader behind readers":              {[]c{{s, 2}, {s, 4}}, c{s, 5}, 0, false},
		"reader: nearest writer":             {[]c{{x, 1}, {x, 3}, {s, 4}}, c{s, 5}, 3, true},
		"reader: later writer is none of it": {[]c{{s, 4}, {x, 6}}, c{s, 5}, 0, false},
		"writer: later ones":                 {[]c{{x, 6}, {s, 7}}, c{x, 5}, 0, false},
		"across the wrap":                    {[]c{{x, math.MaxInt32}}, c{x, math.MinInt32}, math.MaxInt32, true},
		"before the wrap":                    {[]c{{x, math.MinInt32}}, c{x, math.MaxInt32}, 0, false},
		"from negative to zero":              {[]c{{x, -1}, {x, -2}}, c{x, 0}, -1, true},
	} {
		own := node{name(NamingQrunner, test.own.m, test.own.seq), test.own.seq, test.own.m}
		names := []string{"foreign", "_c_x", own.name}
		for i, o := range test.others {
			names = append(names, name([]Naming{NamingQrunner, NamingKazoo}[i%2], o.m, o.seq))
		}
		pred, wait, listed := predecessor(names, own)
		if wait != test.wait || pred.seq != test.want || !listed {
			t.Errorf("%s: got %+v %v %v", label, pred, wait, listed)
		}
	}
	if _, _, listed := predecessor([]string{"a"}, node{name: "b"}); listed {
		t.Error("found a node that is not there")
	}
}

func TestContendersAreInOrder(t *testing.T) {
	var names []string
	for _, seq := range []int32{math.MinInt32 + 1, math.MaxInt32 - 1, math.MinInt32, math.MaxInt32} {
		names = append(names, name(NamingQrunner, locking.Exclusive, seq), "foreign")
	}
	var got []int32
	for _, n := range contenders(names) {
		got = append(got, n.seq)
	}
	want := []int32{math.MaxInt32 - 1, math.MaxInt32, math.MinInt32, math.MinInt32 + 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestHolderReadsWhatOwnerWrote(t *testing.T) {
	st := &zk.Stat{Ctime: 1000}
	o := owner{"mx1", 42, "fan-out\nof 7 \xff"}
	got := holder(o.encode(), st)
	if got.Host != "mx1" || got.PID != 42 || got.Note != "fan-out of 7 " || got.Since.UnixMilli() != 1000 {
		t.Errorf("got %+v", got)
	}
	if got := holder([]byte("my-identifier"), st); got.Host != "" || got.Note != "my-identifier" {
		t.Errorf("kazoo's content: got %+v", got)
	}
}

func FuzzParseNode(f *testing.F) {
	for _, s := range []string{guidA + "-x-0000000001", guidA + "__rlock__-2147483648", "_c_x", "x__lock__0000000001", "-x-0000000001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parseNode(s)
		if !ok {
			return
		}
		if n.name != s || checkSegment(s) == nil {
			t.Errorf("%q: %+v", s, n)
		}
		if tail := fmt.Sprintf("%010d", n.seq); len(s) < len(tail) || s[len(s)-len(tail):] != tail {
			t.Errorf("%q: number %d", s, n.seq)
		}
	})
}

func FuzzHolder(f *testing.F) {
	f.Add([]byte(`{"host":"mx1","pid":7,"note":"x"}`))
	f.Add([]byte("identifier"))
	f.Add([]byte(`{"host":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := holder(b, &zk.Stat{})
		for _, s := range []string{h.Host, h.Note} {
			if clean(s) != s {
				t.Errorf("%q: not one clean line", s)
			}
		}
	})
}

// parseSeq takes just what the server prints.
func TestNumbersAreAsTheServerPrintsThem(t *testing.T) {
	for _, s := range []string{
		"0000000000", "-000000000", "-000000001", "-0000000001", "0000000001", "2147483647", "2147483648", "-2147483648", "-2147483649",
		"-999999999", "-1000000000", "12", "+000000001", "", "-", "--00000001", "00000000001", "000000000x", "１000000000",
	} {
		v, err := strconv.ParseInt(s, 10, 32)
		want := err == nil && s == fmt.Sprintf("%010d", v)
		if n, ok := parseSeq(s); ok != want || ok && int64(n) != v {
			t.Errorf("%q: %d %v, want %d %v", s, n, ok, v, want)
		}
	}
}
