package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/locking/site"
)

// generation says which incarnation of a list is current: the file with the
// highest number does. It is published by link, so that not even two hosts that
// both hold the lock can start two incarnations; and n+1 is written only by who
// has read the final record of n. Generations are never removed.
type generation struct {
	N    uint64   `json:"n"`
	List lists.ID `json:"list"`
	// Incarnation is the folder's name; empty: the list is deleted.
	Incarnation string    `json:"incarnation,omitempty"`
	Time        time.Time `json:"time"`
	Host        string    `json:"host"`
}

func (g generation) dir() folder { return incarnationFolder(g.List, g.Incarnation) }

// noListError is lists.ErrNoList with the list's name.
func noListError(id lists.ID) error { return fmt.Errorf("list %s: %w", id, lists.ErrNoList) }

// current finds the list's generation by a fresh look. lists.ErrNoList is certain:
// the site marker is there, and the fresh listing has no live generation.
func (s *Store) current(ctx context.Context, id lists.ID) (generation, error) {
	g, err := s.newest(ctx, id)
	if err != nil {
		return g, err
	}
	if g.Incarnation != "" {
		return g, nil
	}
	if _, err := site.Check(ctx, s.FS); err != nil {
		return g, fmt.Errorf("list %s: %w", id, err)
	}
	return g, noListError(id)
}

// newest reads the highest generation, that of a deleted list included. A list that
// never was has generation 0.
func (s *Store) newest(ctx context.Context, id lists.ID) (generation, error) {
	none := generation{List: id}
	for range 3 {
		if err := ctx.Err(); err != nil {
			return none, err
		}
		list, err := listDir(s.FS, listFolder(id), true)
		if err == nil {
			g, err := s.highest(id, list)
			if err == nil && g.Incarnation != "" {
				s.cache.looked(id)
			}
			return g, err
		}
		if !fsys.Gone(err) {
			return none, err
		}
		// That the folder's name cannot be opened is no proof: a client may remember
		// for half a minute that a name was not there.
		// And that the folder of all lists cannot be, is none either.
		all, err := s.folders(true)
		if err != nil {
			return none, err
		}
		if !has(all, id) {
			return none, nil
		}
		// An attempt to make it is refused, and makes the client forget.
		_ = s.FS.Mkdir(listFolder(id), fsys.DirPerm)
	}
	return none, fmt.Errorf("list %s: its folder is listed but cannot be opened", id)
}

// highest reads the highest generation of a listing of the list's folder.
func (s *Store) highest(id lists.ID, list []fsys.DirEntry) (generation, error) {
	var n uint64
	for _, e := range list {
		if tail, ok := strings.CutPrefix(e.Name, generationPrefix); ok {
			if i, ok := parseNumber(tail); ok {
				n = max(n, i)
			}
		}
	}
	if n == 0 {
		return generation{List: id}, nil
	}
	if g, ok := s.cache.generation(id, n); ok {
		return g, nil
	}
	g, err := readGeneration(s.FS, id, n)
	if err == nil {
		s.cache.setGeneration(g)
	}
	return g, err
}

func generationName(id lists.ID, n uint64) string {
	return listFolder(id) + "/" + generationPrefix + number(n)
}

func readGeneration(f fsys.FS, id lists.ID, n uint64) (generation, error) {
	name := generationName(id, n)
	data, err := fsys.ReadFile(f, name, 1<<16)
	if err != nil {
		return generation{}, unreadable(name, err)
	}
	var g generation
	d, err := newDeframer(bytes.NewReader(data), "generation")
	if err == nil {
		err = errors.Join(d.into(&g), d.done())
	}
	if err == nil && (g.N != n || g.List != id || strings.ContainsAny(g.Incarnation, "/.")) {
		err = fmt.Errorf("it is generation %d of list %q", g.N, g.List)
	}
	if err != nil {
		return generation{}, damaged(name, err)
	}
	return g, nil
}

// publish makes g the list's newest generation. ErrExists means that somebody else
// has made that number.
func (s *Store) publish(g generation, temp string) error {
	g.Time, g.Host = s.now(), s.Host
	err := fsys.WriteNew(s.FS, temp, func(w io.Writer) error {
		f := newFramer(w, "generation")
		f.line(g)
		return f.end()
	})
	if err != nil {
		return err
	}
	defer s.drop(temp)
	got, err := place(s.FS, temp, generationName(g.List, g.N))
	switch {
	case err != nil:
		return fmt.Errorf("generation %d: %w", g.N, err)
	case got == taken:
		return ErrExists
	}
	return nil
}

// bury writes the tombstone of a list whose log has its final record. Anybody may;
// if it fails, the final record alone still says that the list is gone.
func (s *Store) bury(g generation) error {
	next := generation{N: g.N + 1, List: g.List}
	err := s.publish(next, g.dir().temp("generation"))
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}
