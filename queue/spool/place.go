package spool

import (
	"context"
	"errors"
	"fmt"
	"path"

	"qrunner/locking/fsys"
)

// placeTries bounds how often a folder that its holder removes under our hands is
// made again.
const placeTries = 8

// placing puts files and folders under their final names: rename all, then sync
// the folders, each once. For one goroutine.
type placing struct {
	s    *Spool
	into map[string]*folder
}

func (s *Spool) placing() *placing { return &placing{s: s, into: map[string]*folder{}} }

// rename moves src, complete and synced, to target. A source that is not there was
// moved before: nobody else takes it away. That it is not there, only fresh listings say.
func (p *placing) rename(ctx context.Context, src, target string) error {
	var err error
	for range placeTries {
		if cerr := ctx.Err(); cerr != nil {
			return errors.Join(cerr, err)
		}
		var f *folder
		if f, err = p.folder(path.Dir(target)); fsys.Gone(err) {
			continue // made, and removed before it was open
		}
		if err != nil {
			return err
		}
		if err = f.dir.Rename(src, path.Base(target)); err == nil {
			return nil
		}
		there, lerr := p.s.present(src)
		switch {
		case lerr != nil:
			return fmt.Errorf("%w (and then %w)", err, lerr)
		case !there:
			return nil
		case !fsys.Gone(err):
			return err
		}
		p.forget(f)
	}
	return err
}

// sync returns when all that was renamed is on stable storage.
func (p *placing) sync() error {
	answers := make(chan error, len(p.into))
	for _, f := range p.into {
		go func() { answers <- p.s.folders.sync(f) }()
	}
	var errs []error
	for range p.into {
		errs = append(errs, <-answers)
	}
	return errors.Join(errs...)
}

// close ends the use of the folders.
func (p *placing) close() {
	for _, f := range p.into {
		p.s.folders.release(f)
	}
}

func (p *placing) folder(name string) (*folder, error) {
	if f, ok := p.into[name]; ok {
		return f, nil
	}
	f, err := p.s.folders.acquire(name)
	if err == nil {
		p.into[name] = f
	}
	return f, err
}

func (p *placing) forget(f *folder) {
	delete(p.into, f.name)
	p.s.folders.drop(f)
	p.s.folders.release(f)
}

// present reports whether name is on the share, by a fresh listing of each folder
// on the way: a folder that another host made can look absent for half a minute to
// whoever looked for it before.
func (s *Spool) present(name string) (bool, error) {
	dir := path.Dir(name)
	if dir != "." {
		if ok, err := s.present(dir); !ok || err != nil {
			return ok, err
		}
	}
	list, err := touchAndList(s.c.FS, dir)
	if err != nil { // even ENOENT is no answer: the folder was there a moment ago
		return false, fmt.Errorf("look for %s: %w", name, err)
	}
	_, ok := fsys.Find(list, path.Base(name))
	return ok, nil
}

// remove takes name, a file or an empty folder, away; that it is gone already is no
// error.
func (s *Spool) remove(name string) error {
	err := s.c.FS.Remove(name)
	if err == nil {
		return nil
	}
	if there, lerr := s.present(name); lerr == nil && !there {
		return nil
	}
	return err
}

// publish moves a complete, synced file or folder of the caller's own to its target
// (both from the share's root) and returns when that name is on stable storage.
// Calling it again after a crash is right: a source that is gone was published.
func (s *Spool) publish(ctx context.Context, staged, target string) error {
	p := s.placing()
	defer p.close()
	err := p.rename(ctx, staged, target)
	if err == nil {
		err = p.sync()
	}
	if err != nil {
		return fmt.Errorf("publish %s: %w", target, err)
	}
	return nil
}
