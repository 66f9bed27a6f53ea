package stage

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/liststest"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/queue"
)

// BenchmarkIn is one accepted post from entry to outcome.
func BenchmarkIn(b *testing.B) {
	for _, members := range []int{10, 100_000} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			w := newWorld(b, liststest.Ant, "subject_prefix", "[Ant %d]", "footer", "foot\n", "repeat_window", "0s")
			cs := make([]store.Change, members)
			for i := range cs {
				cs[i] = store.AddMember{Member: lists.Member{Address: mailaddr.Address(fmt.Sprintf("m%d@example.net", i)), Role: lists.RoleMember}}
			}
			var err error
			if w.state, err = w.state.With(liststest.Day(), cs...); err != nil {
				b.Fatal(err)
			}
			e := w.entry("anne@example.org", hello)
			b.ReportAllocs()
			for b.Loop() {
				o, err := w.stages[queue.In].Process(b.Context(), &queue.Work{Entry: e, List: w.state.List(), State: w.state})
				if err != nil || len(sent(o).Recipients) < members {
					b.Fatal(o, err)
				}
			}
		})
	}
}

// BenchmarkJudge is the verdict alone, on a list of a million.
func BenchmarkJudge(b *testing.B) {
	w := newWorld(b, liststest.Ant, "ban_list", strings.Repeat("^spammer[0-9]+@example\\.net$\n", 100), "accept_these_nonmembers", "^.*@example\\.edu$",
		"header_matches", "discard X-Spam: yes\nhold Subject: casino", "hold_digest", "yes", "moderator_password", "pw", "max_posts_per_sender", "100")
	cs := make([]store.Change, 1_000_000)
	for i := range cs {
		cs[i] = store.AddMember{Member: lists.Member{Address: mailaddr.Address(fmt.Sprintf("m%d@example.net", i)), Role: lists.RoleMember}}
	}
	var err error
	if w.state, err = w.state.With(liststest.Day(), cs...); err != nil {
		b.Fatal(err)
	}
	e := w.entry("m777777@example.net", strings.Replace(hello, "anne@example.org", "m777777@example.net", 1))
	b.ReportAllocs()
	for b.Loop() {
		v, err := chains.Judge(b.Context(), w.conf.post(&queue.Work{Entry: e, List: w.state.List(), State: w.state}))
		if err != nil || v.Action != lists.ActionAccept {
			b.Fatal(v, err)
		}
	}
}
