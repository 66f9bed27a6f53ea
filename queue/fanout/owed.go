package fanout

import (
	"errors"
	"os"

	"qrunner/locking/fsys"
)

// owed is a trouble line that could not be written yet: without it, a delivery that
// the share or the lock has stopped would look like one that killed its host.
type owed struct{ name, why string }

// maxOwed bounds how many are remembered.
const maxOwed = 256

// owe remembers a trouble line of a journal of our own, for the walks to come.
func (s *Sender) owe(name, why string) {
	select {
	case s.owed <- owed{name, why}:
	default:
	}
}

// pay writes what is owed. A journal that has moved is let go.
func (s *Sender) pay() error {
	var errs []error
	for range len(s.owed) {
		o := <-s.owed
		if err := s.payOne(o); err != nil && !fsys.Gone(err) {
			errs = append(errs, err)
			s.owe(o.name, o.why)
		}
	}
	return errors.Join(errs...)
}

func (s *Sender) payOne(o owed) error {
	f, err := s.c.FS.OpenFile(o.name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	// A line of its own, whatever torn line stands before it.
	_, err = f.Write(record{kind: trouble, text: o.why}.append([]byte("\n")))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
