package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"qrunner/lists"
	"qrunner/locking/fsys"
)

// progressEvery is how many members pass between two calls of progress.
const progressEvery = 1000

// Import adds many members by one commit, all or none: their lines are in a file of
// their own, which the commit names. Who is on the roster in that role already, or
// came before in members, is passed over. progress, if not nil, is called now and
// then and at the end with the number read so far. Errors are those of Commit;
// after ErrFenced the whole import has to be done again.
func (h *Holder) Import(ctx context.Context, by By, members iter.Seq[lists.Member], progress func(n int)) error {
	if h.broken != nil {
		return h.broken
	}
	r := &Record{N: h.state.version + 1, Kind: KindCommit, Token: h.token, Time: h.s.now(), Host: h.s.Host,
		Actor: by.Actor, Reason: by.Reason}
	d := h.state.edit()
	d.begin(r)
	w := &sideWriter{draft: d, progress: progress}
	name := number(r.N) + "." + random()
	dir := h.gen.dir()
	if err := w.writeFile(ctx, h.s.FS, dir.side(name), members); err != nil {
		return fmt.Errorf("import to list %s: %w", h.id, h.gone(ctx, err))
	}
	if w.count == 0 {
		return h.s.FS.Remove(dir.side(name))
	}
	if err := fsys.SyncDir(h.s.FS, dir.sides()); err != nil {
		return fmt.Errorf("import to list %s: %w", h.id, err)
	}
	r.Changes = Changes{importMembers{Side: name, Count: w.count, Sum: w.sum}}
	data, err := encodeRecord(r)
	if err != nil {
		return err
	}
	done, err := h.append(ctx, data, d)
	if done || errors.Is(err, ErrUnknown) {
		return err
	}
	_ = h.s.FS.Remove(dir.side(name))
	if err == nil {
		err = ErrFenced
	}
	return fmt.Errorf("import to list %s: %w", h.id, err)
}

// sideWriter writes members to a side file while it adds them to a draft.
type sideWriter struct {
	draft    *draft
	progress func(n int)
	read     int
	count    int
	sum      string
}

func (w *sideWriter) writeFile(ctx context.Context, f fsys.FS, name string, members iter.Seq[lists.Member]) error {
	hash := sha256.New()
	err := fsys.WriteNew(f, name, func(file io.Writer) error {
		out := newFramer(io.MultiWriter(file, hash), "roster")
		for m := range members {
			if err := w.add(ctx, out, m); err != nil {
				return err
			}
		}
		w.tell()
		return out.end()
	})
	w.sum = hex.EncodeToString(hash.Sum(nil))
	return err
}

func (w *sideWriter) add(ctx context.Context, out *framer, m lists.Member) error {
	if w.read++; w.read%progressEvery == 0 {
		w.tell()
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	if err := checkMember(&m); err != nil {
		return err
	}
	if _, ok := w.draft.roster.Find(m.Role, m.Address); ok {
		return nil
	}
	m.ID = w.draft.nextMember
	m.Name, m.StatusWhy = strings.ToValidUTF8(m.Name, "\uFFFD"), strings.ToValidUTF8(m.StatusWhy, "\uFFFD")
	if m.Since.IsZero() {
		m.Since = w.draft.at
	}
	line, err := appendMember(nil, &m, out.err)
	if err != nil {
		return err
	}
	out.write(append(line, '\n'))
	w.draft.addMember(m)
	w.count++
	return nil
}

func (w *sideWriter) tell() {
	if w.progress != nil {
		w.progress(w.read)
	}
}

// applySide adds the members of a side file to a draft. After an error the draft is
// of no use.
func (s *Store) applySide(dir folder, d *draft, c importMembers) error {
	name := dir.side(c.Side)
	if strings.ContainsAny(c.Side, "/") {
		return &CorruptError{File: name, Err: errors.New("not a side file's name")}
	}
	r, err := s.FS.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	hash := sha256.New()
	n, err := readSide(io.TeeReader(r, hash), d.addMember)
	if err == nil && n != c.Count {
		err = fmt.Errorf("%d members, want %d", n, c.Count)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); err == nil && sum != c.Sum {
		err = fmt.Errorf("checksum %s, want %s", sum, c.Sum)
	}
	if err != nil {
		return damaged(name, err)
	}
	return nil
}

// readSide calls add with each member of a side file.
func readSide(r io.Reader, add func(lists.Member)) (n int, err error) {
	d, err := newDeframer(r, "roster")
	if err != nil {
		return 0, err
	}
	for {
		line, err := d.next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		m, err := parseMember(line)
		if err != nil {
			return n, d.verdict(err)
		}
		add(m)
		n++
	}
}
