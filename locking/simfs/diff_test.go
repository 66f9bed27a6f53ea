package simfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// player makes random calls on a file system and notes what they answer.
type player struct {
	fs    fsys.FS
	rng   *rand.Rand
	local bool // files may be unlinked while open
	files []fsys.File
	dir   fsys.Dir
	log   strings.Builder
	ids   map[uint64]int // inode numbers by order of appearance
}

// TestOneHostIsAFileSystem plays the same calls on a real local folder and on one
// simulated host: answers, errnos, listings, sizes and link counts are the same.
func TestOneHostIsAFileSystem(t *testing.T) {
	modes := map[string]simfs.Config{
		"local": {Local: true}, "v3": {Version: simfs.V3}, "v4.2": {},
		"none": {Version: simfs.V3, NoAC: true, LookupCacheNone: true},
	}
	for name, cfg := range modes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				real, err := fsys.Open(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				want := play(real, seed, cfg.Local)
				got := play(simfs.New(cfg).Host("a"), seed, cfg.Local)
				_ = real.Close()
				compare(t, seed, want, got)
			}
		})
	}
}

func compare(t *testing.T, seed uint64, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			t.Fatalf("seed %d, call %d:\nreal %s\nsim  %s\nbefore:\n%s", seed, i, w[i], g[i], strings.Join(w[max(0, i-25):i], "\n"))
		}
	}
}

func play(f fsys.FS, seed uint64, local bool) string {
	p := &player{fs: f, rng: rand.New(rand.NewPCG(seed, 9)), local: local, ids: map[uint64]int{}}
	for range 400 {
		p.step()
	}
	for _, f := range p.files {
		p.note("close", f.Close())
	}
	p.tree(".")
	return p.log.String()
}

func (p *player) note(what string, err error) {
	text := "ok"
	var errno syscall.Errno
	switch {
	case err == nil:
	case errors.As(err, &errno):
		text = fmt.Sprintf("errno %d", int(errno))
	case errors.Is(err, io.EOF):
		text = "EOF"
	default:
		text = "other"
	}
	fmt.Fprintf(&p.log, "%s: %s\n", what, text)
}

func (p *player) name() string {
	pool := []string{"a", "b", "c", "d", "d/a", "d/b", "d/d", "d/d/a", "e", "e/a", "e/d", "e/d/x", "a/b", "z/z"}
	switch p.rng.IntN(40) {
	case 0:
		return "."
	case 1:
		return strings.Repeat("n", 256)
	case 2:
		return []string{"../x", "/abs", "d//a", ""}[p.rng.IntN(4)]
	}
	return pool[p.rng.IntN(len(pool))]
}

func (p *player) step() {
	n, m := p.name(), p.name()
	op := p.rng.IntN(15)
	if (op >= 4 && op <= 7 || op == 12) && (!filepath.IsLocal(n) || path.Clean(n) != n) {
		return // an old name is taken as given by the real one
	}
	if op == 12 && len(n)+len(m) > 200 {
		return // which of two errors comes first is of no interest
	}
	switch op {
	case 0, 1:
		p.note("mkdir "+n, p.fs.Mkdir(n, 0o770))
	case 2, 3:
		p.open(n)
	case 4, 5:
		p.note("link "+n+" "+m, p.fs.Link(n, m))
	case 6, 7:
		if p.busy(m) || p.busy(n) {
			return
		}
		p.note("rename "+n+" "+m, p.fs.Rename(n, m))
	case 8:
		if p.busy(n) {
			return
		}
		p.note("remove "+n, p.fs.Remove(n))
	case 9:
		info, err := p.fs.Stat(n)
		p.note("stat "+n+" "+p.info(info), err)
	case 10:
		p.note("touch "+n, p.fs.Touch(n))
	case 11:
		list, err := p.fs.ReadDir(n)
		p.note("readdir "+n+" "+p.list(list), err)
	case 12:
		p.dirStep(n, m)
	default:
		p.fileStep()
	}
}

// busy: on NFS a file that is open is not unlinked but renamed, which a local file
// system does not do. Folders are not moved, for files in them would be busy too.
func (p *player) busy(name string) bool {
	if p.local {
		return false
	}
	for _, f := range p.files {
		_ = f.Close()
	}
	p.files = nil
	return false
}

func (p *player) open(n string) {
	flag := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR}[p.rng.IntN(3)]
	for _, f := range []int{os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND} {
		if p.rng.IntN(2) == 0 {
			flag |= f
		}
	}
	if flag&os.O_CREATE == 0 {
		flag &^= os.O_EXCL
	}
	if flag&(os.O_RDWR|os.O_WRONLY) == 0 {
		flag &^= os.O_TRUNC // undefined by POSIX
	}
	f, err := p.fs.OpenFile(n, flag, 0o660)
	p.note(fmt.Sprintf("open %s %x", n, flag), err)
	if err == nil {
		p.files = append(p.files, f)
	}
}

func (p *player) fileStep() {
	if len(p.files) == 0 {
		return
	}
	i := p.rng.IntN(len(p.files))
	f := p.files[i]
	buf := make([]byte, 1+p.rng.IntN(20))
	switch p.rng.IntN(7) {
	case 0, 1:
		for j := range buf {
			buf[j] = byte('a' + p.rng.IntN(26))
		}
		n, err := f.Write(buf)
		p.note(fmt.Sprintf("write %d", n), err)
	case 2:
		n, err := f.Read(buf)
		p.note(fmt.Sprintf("read %q", buf[:n]), err)
	case 3:
		n, err := f.ReadAt(buf, int64(p.rng.IntN(30)))
		p.note(fmt.Sprintf("readat %q", buf[:n]), err)
	case 4:
		p.note("truncate", f.Truncate(int64(p.rng.IntN(40)-2)))
	case 5:
		info, err := f.Stat()
		p.note("fstat "+p.info(info), err)
	case 6:
		p.note("close", f.Close())
		p.files = append(p.files[:i:i], p.files[i+1:]...)
	}
}

func (p *player) dirStep(n, m string) {
	if p.dir == nil || p.rng.IntN(4) == 0 {
		if p.dir != nil {
			p.note("closedir", p.dir.Close())
		}
		d, err := p.fs.OpenDir(n)
		p.note("opendir "+n, err)
		p.dir = nil
		if err == nil {
			p.dir = d
		}
		return
	}
	switch p.rng.IntN(3) {
	case 0:
		p.note("dirlink "+n, p.dir.Link(n, path.Base(m)))
	case 1:
		p.busy(n)
		p.note("dirrename "+n, p.dir.Rename(n, path.Base(m)))
	case 2:
		list, err := p.dir.ReadDir()
		p.note("dirreaddir "+p.list(list), err)
	}
}

func (p *player) id(ino uint64) int {
	if _, ok := p.ids[ino]; !ok {
		p.ids[ino] = len(p.ids)
	}
	return p.ids[ino]
}

func (p *player) info(i fsys.Info) string {
	if i.Ino == 0 {
		return ""
	}
	size := i.Size
	if i.Mode.IsDir() {
		size = 0
	}
	return fmt.Sprintf("%s %d %v links %d", i.Name, size, i.Mode.Type(), i.Nlink)
}

func (p *player) list(list []fsys.DirEntry) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%s%s ", e.Name, map[bool]string{true: "/"}[e.Type == fs.ModeDir])
	}
	return b.String()
}

// tree notes everything there is, with which names are one file.
func (p *player) tree(name string) {
	list, err := p.fs.ReadDir(name)
	p.note("list "+name, err)
	for _, e := range list {
		full := path.Join(name, e.Name)
		info, err := p.fs.Stat(full)
		text := fmt.Sprintf("%s #%d %v %s", full, p.id(e.Ino), e.Ino == info.Ino, p.info(info))
		if e.Type == fs.ModeDir {
			p.note(text, err)
			p.tree(full)
			continue
		}
		data, rerr := fsys.ReadFile(p.fs, full, 1<<20)
		p.note(fmt.Sprintf("%s %q", text, data), errors.Join(err, rerr))
	}
}
