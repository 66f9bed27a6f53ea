package nfstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"qrunner/locking"
	"qrunner/locking/fsys"
)

// numbered is one process's view of the log: record n+1 is published by link(2).
type numbered struct {
	fs   fsys.FS
	id   string // "host.pid"
	last uint64
	tmp  int
	acks *os.File // what was reported done, a line each
}

const logDir = "log"

// openLog begins in a log that may be new.
func (p *place) openLog() *numbered {
	p.Helper()
	if err := fsys.MkdirAll(p.share, logDir); err != nil {
		p.Fatal(err)
	}
	id := fmt.Sprintf("%s.%d.%s", p.host.Host, p.host.PID, p.host.Nonce)
	acks, err := os.Create(filepath.Join(p.talk, "acks."+id))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = acks.Close() })
	return &numbered{fs: p.share, id: id, acks: acks}
}

// Fence implements locking.Fencer.
func (l *numbered) Fence(ctx context.Context) (locking.Token, error) {
	for {
		d, err := l.fs.OpenDir(logDir)
		if err != nil {
			return 0, err
		}
		err = d.Touch()
		var list []fsys.DirEntry
		if err == nil {
			list, err = d.ReadDir()
		}
		_ = d.Close()
		if err != nil {
			return 0, err
		}
		l.last = 0
		for _, e := range list {
			if n, err := strconv.ParseUint(e.Name, 10, 64); err == nil {
				l.last = max(l.last, n)
			}
		}
		if err = l.append("fence"); err == nil {
			return locking.Token(l.last), nil
		}
		if !errors.Is(err, fs.ErrExist) || ctx.Err() != nil {
			return 0, err
		}
	}
}

// commit appends under a grant; fs.ErrExist means that we are fenced off.
func (l *numbered) commit(token locking.Token, k int) error {
	if err := l.append(fmt.Sprintf("commit %d %d", token, k)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(l.acks, "%d %s commit %d %d\n", l.last, l.id, token, k)
	return err
}

func (l *numbered) append(text string) error {
	l.tmp++
	tmp := fmt.Sprintf("%s/tmp.%s.%d", logDir, l.id, l.tmp)
	err := fsys.WriteNew(l.fs, tmp, func(w io.Writer) error {
		_, err := io.WriteString(w, l.id+" "+text)
		return err
	})
	if err != nil {
		return err
	}
	err = fsys.LinkNew(l.fs, tmp, fmt.Sprintf("%s/%020d", logDir, l.last+1))
	_ = fsys.RemoveAny(l.fs, tmp)
	if err == nil {
		l.last++
	}
	return err
}
