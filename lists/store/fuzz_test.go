package store

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qrunner/lists"
	"qrunner/lists/bounces/score"
)

func seedRecord(f *testing.F) *Record {
	return &Record{
		N: 7, Kind: KindCommit, Token: 5, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Host: "a", Actor: "x", Reason: "y",
		Changes: Changes{
			AddMember{member(1)}, DelMember{lists.RoleOwner, "a@b.org"}, SetMember{member(2)}, SetSetting{"info", "a\nb"},
			UnsetSetting{"info"}, HoldPost{HeldPost{ID: "h"}}, DropHeld{"h"}, SetPostID{3}, AddToDigest{DigestPost{ID: "d", Sum: "s"}}, CloseDigest{1, 2, time.Unix(1, 0).UTC(), []string{"d"}}, SetDigest{1, 2, time.Unix(1, 0).UTC()}, DropDigest{"d"},
			SetBounce{7, score.Record{Address: "a@b.org", Score: 150, Kind: score.Hard}, score.Step{What: score.Bounced, Points: -50}}, DropBounce{7},
			SetStorm{score.Storm{Domain: "b.org", Kind: score.Soft, Members: 5}, time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()},
			AddCount{"k", time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()}, MarkSeen{Key: "k", At: time.Unix(1, 0).UTC()},
			OpenPending{pendingJoin("p", time.Unix(1, 0))}, ClosePending{"p"},
			OpenHandover{Handover{Entry: "e", Children: []Placed{{"a", "b", "c"}}}}, CloseHandover{"e"},
			MarkAttempt{Entry: "e", Count: 1, At: time.Unix(1, 0).UTC()}, ClearAttempt{"e"}, importMembers{Side: "s", Count: 1, Sum: "x"},
		},
	}
}

// Whatever decodes encodes to the same record; and it can be applied to a list.
func FuzzDecodeRecord(f *testing.F) {
	data, err := encodeRecord(seedRecord(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("qrunner record 1\n"))
	f.Add([]byte("qrunner record 9\n{}\nend 0 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tryRecord(t, data)
		// Behind a right frame the fuzzer gets further.
		var b bytes.Buffer
		fr := newFramer(&b, "record")
		fr.write(append(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")), '\n'))
		if fr.end() == nil {
			tryRecord(t, b.Bytes())
		}
	})
}

func tryRecord(t *testing.T, data []byte) {
	r, err := decodeRecord(data)
	if err != nil {
		return
	}
	again, err := encodeRecord(r)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	r2, err := decodeRecord(again)
	if err != nil || !cmp.Equal(r, r2) {
		t.Fatalf("%v: %s", err, cmp.Diff(r, r2))
	}
	st := emptyState("x@y.org", "i")
	d := st.edit()
	d.begin(r)
	for _, c := range r.Changes {
		c.apply(d)
	}
}

func TestEveryKindIsInTheTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range seedRecord(nil).Changes {
		if _, ok := kinds[c.Kind()]; !ok {
			t.Errorf("%s is not in the table", c.Kind())
		}
		seen[c.Kind()] = true
	}
	for k := range kinds {
		if !seen[k] {
			t.Errorf("%s has no sample", k)
		}
	}
	data, err := encodeRecord(seedRecord(nil))
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedRecord(nil), r); diff != "" {
		t.Error(diff)
	}
}

// Whatever decodes encodes to a snapshot that decodes to the same state.
func FuzzDecodeSnapshot(f *testing.F) {
	st := emptyState("x@y.org", "i")
	d := st.edit()
	r := seedRecord(f)
	d.begin(r)
	for _, c := range r.Changes[:1] {
		c.apply(d)
	}
	f.Add([]byte(dump(&d.State)))
	f.Add([]byte("qrunner snapshot 1\n{\"n\":1,\"members\":-1}\nend 0 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		trySnapshot(t, data)
		var b bytes.Buffer
		fr := newFramer(&b, "snapshot")
		fr.write(append(bytes.TrimSuffix(data, []byte("\n")), '\n'))
		if fr.end() == nil {
			trySnapshot(t, b.Bytes())
		}
	})
}

func trySnapshot(t *testing.T, data []byte) {
	s, err := decodeSnapshot(bytes.NewReader(data))
	if err != nil {
		return
	}
	text := dump(s)
	s2, err := decodeSnapshot(bytes.NewReader([]byte(text)))
	if err != nil || dump(s2) != text {
		t.Fatalf("%v:\n%s\n%s", err, text, dump(s2))
	}
}

// The short way of reading a member says what package json says, or nothing.
func FuzzParseMember(f *testing.F) {
	for _, m := range []lists.Member{member(1), {ID: 1, Address: "ä@b.org", Role: lists.RoleOwner, Name: `a "b"`}} {
		line, err := appendMember(nil, &m, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"id":1,"address":"a@b.org","role":"member","name":"A B","since":"2026-01-02T03:04:05.000001+02:00"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		quick, ok := parsePlain(line)
		if !ok {
			return
		}
		var slow lists.Member
		if err := strict(line, &slow); err != nil {
			t.Fatalf("%s: package json says %v", line, err)
		}
		if diff := cmp.Diff(*newRow(&slow).member(), *newRow(&quick).member()); diff != "" {
			t.Fatalf("%s: %s", line, diff)
		}
	})
}

// What a reader of the audit trail may get is bounded by one file; a frame that
// lies about its end is refused.
func TestFrameRefusesWhatIsBehindTheEnd(t *testing.T) {
	data, err := encodeRecord(&Record{N: 1, Kind: KindFence})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeRecord(append(data, 'x')); err == nil || errors.Is(err, ErrNewer) {
		t.Errorf("error %v", err)
	}
}
