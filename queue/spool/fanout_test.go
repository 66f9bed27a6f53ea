package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

func openRoot(t testing.TB) (fsys.FS, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := fsys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func people(n int) []lists.Recipient {
	out := make([]lists.Recipient, n)
	for i := range out {
		out[i] = lists.Recipient{Kind: lists.KindMember, Member: lists.MemberID(i + 1), Address: mailaddr.Address(fmt.Sprintf("member%d@example.org", i))}
	}
	return out
}

func newFanout(n int) *queue.Fanout {
	e := small("Subject: x\r\n\r\nhello\r\n")
	return &queue.Fanout{List: ant, Envelope: e.Envelope, Raw: e.Raw, PostID: 5, VERP: true, Readable: true, Bulk: true, Bounces: ant.Bounces(), Recipients: people(n),
		Copies: lists.Copies{Full: true, OneClick: true, Keys: []string{"s1._domainkey.example.org", "s2._domainkey.example.org"}, Checked: "example.org; arc=none", Gaps: []lists.Gap{
			{At: 0, Encoding: "base64", Charset: "utf-8", Text: "for $user_name\r\n\r\n", After: []byte("\x00\r\n")},
			{At: 7, Encoding: "7bit", Text: "-- \r\n\tSent to $user_address.\r\nLength: 3\r\n"},
			{At: 7, Encoding: "quoted-printable", Charset: " odd name", Text: "", Before: []byte("x")},
			{At: 7, Encoding: "8bit", Charset: "utf-8", Text: "Gr\u00fc\u00dfe, \"$user_name\"\u202e\r\n"},
		}}}
}

func TestFanoutRanges(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{0, 1, blockLines - 1, blockLines, blockLines + 1, 3*blockLines + 7} {
		f, _ := openRoot(t)
		want := newFanout(n)
		if err := WriteFanout(ctx, f, "fo", want); err != nil {
			t.Fatal(err)
		}
		got, r, err := ReadFanout(ctx, f, "fo")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(queue.Fanout{}, "Recipients")); d != "" || got.Recipients != nil || r.Len() != n {
			t.Errorf("n=%d: %d recipients; %s", n, r.Len(), d)
		}
		for _, x := range [][2]int{{0, n}, {0, min(1, n)}, {n / 2, n}, {max(0, n-3), n}, {min(n, blockLines-1), min(n, blockLines+1)}, {n, n}} {
			list, err := r.Range(ctx, x[0], x[1])
			if d := cmp.Diff(want.Recipients[x[0]:x[1]], list, cmpopts.EquateEmpty()); d != "" || err != nil {
				t.Errorf("n=%d, range %v: %v %s", n, x, err, d)
			}
		}
		for _, x := range [][2]int{{-1, 0}, {1, 0}, {0, n + 1}} {
			if _, err := r.Range(ctx, x[0], x[1]); err == nil {
				t.Errorf("n=%d: range %v passes", n, x)
			}
		}
	}
}

func TestFanoutReadsOnlyWhatItNeeds(t *testing.T) {
	const n = 60_000
	f, dir := openRoot(t)
	if err := WriteFanout(t.Context(), f, "fo", newFanout(n)); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(dir, "fo", RecipientsFile))
	if err != nil {
		t.Fatal(err)
	}
	var read int64
	counting := countReads{f, &read}
	_, r, err := ReadFanout(t.Context(), counting, "fo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Range(t.Context(), n-1500, n-500); err != nil {
		t.Fatal(err)
	}
	if read > st.Size()/20 {
		t.Errorf("read %d of %d octets for 1,000 of %d recipients", read, st.Size(), n)
	}
}

type countReads struct {
	fsys.FS
	n *int64
}

type countFile struct {
	fsys.File
	n *int64
}

func (c countReads) OpenFile(name string, flag int, perm fs.FileMode) (fsys.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return countFile{f, c.n}, err
}

func (c countFile) ReadAt(p []byte, off int64) (int, error) {
	*c.n += int64(len(p))
	return c.File.ReadAt(p, off)
}

func TestFanoutDamage(t *testing.T) {
	for _, name := range []string{MessageFile, RecipientsFile} {
		f, dir := openRoot(t)
		if err := WriteFanout(t.Context(), f, "fo", newFanout(3)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "fo", name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(recipientsHead); i < len(data); i++ {
			for _, bad := range [][]byte{data[:i], append(append(append([]byte{}, data[:i]...), data[i]^1), data[i+1:]...)} {
				if err := os.WriteFile(file, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				_, r, err := ReadFanout(t.Context(), f, "fo")
				if err == nil {
					_, err = r.Range(t.Context(), 0, r.Len())
				}
				var c *CorruptError
				if !errors.As(err, &c) {
					t.Fatalf("%s with damage at %d: %v", name, i, err)
				}
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadFanout(t.Context(), f, "fo"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestFanoutRefusesOddRecipients(t *testing.T) {
	for _, r := range []lists.Recipient{{Kind: "a b", Address: "x@y"}, {Kind: "member"}, {Kind: "member", Address: "x@y\nowner 1 z@y"}, {Address: "x@y"}} {
		f, _ := openRoot(t)
		fo := newFanout(1)
		fo.Recipients[0] = r
		if err := WriteFanout(t.Context(), f, "fo", fo); err == nil {
			t.Errorf("%+v passes", r)
		}
	}
}

func FuzzRecipients(f *testing.F) {
	f.Add([]byte("qrunner recipients 1\nmember 1 a@b\n000000000021 x\n"), 1)
	f.Add([]byte{}, 0)
	f.Add(make([]byte, 400), 1500)
	f.Fuzz(func(t *testing.T, data []byte, count int) {
		fs, dir := openRoot(t)
		if err := os.WriteFile(filepath.Join(dir, "r"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		// The checksum is made to match, so that what is behind it is tried too.
		blocks := (min(max(count, 0), len(data)) + blockLines - 1) / blockLines
		tail := data[max(0, len(data)-blocks*indexLine-lastLine):]
		r := &Recipients{fs: fs, name: "r", count: count}
		if r.readIndex(sumOf(tail)) == nil {
			_, _ = r.Range(t.Context(), 0, r.Len())
		}
	})
}

func TestRetryNames(t *testing.T) {
	id := small("").ID
	a, b := RetryName(noon, id), RetryName(noon.Add(1e6), id)
	if a >= b {
		t.Errorf("%s does not sort before %s", a, b)
	}
	due, got, err := ParseRetryName(a)
	if err != nil || !due.Equal(noon) || got != id {
		t.Errorf("ParseRetryName: %v %v %v", due, got, err)
	}
	for _, s := range []string{"", "x", string(id), "0." + string(id), a + "x"} {
		if _, _, err := ParseRetryName(s); err == nil {
			t.Errorf("%q passes", s)
		}
	}
}

func BenchmarkFanout(b *testing.B) {
	const n = 100_000
	fo := newFanout(n)
	f, _ := openRoot(b)
	if err := WriteFanout(b.Context(), f, "fo", fo); err != nil {
		b.Fatal(err)
	}
	_, r, err := ReadFanout(b.Context(), f, "fo")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("write 100,000", func(b *testing.B) {
		for i := range b.N {
			if err := WriteFanout(b.Context(), f, fmt.Sprint("w", i, "-", b.N), fo); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read 1,000", func(b *testing.B) {
		for range b.N {
			if _, err := r.Range(b.Context(), 50_000, 51_000); err != nil {
				b.Fatal(err)
			}
		}
	})
}
