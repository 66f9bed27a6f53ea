package fanout

import (
	"os"
	"sync/atomic"
	"time"

	"qrunner/locking/clock"
	"qrunner/locking/fsys"
)

// serverTime is the file server's clock as last seen, carried on by the host's own:
// hosts whose clocks are hours apart agree on when a retry is due.
type serverTime struct {
	local clock.Clock
	ahead atomic.Int64 // of the host's clock
}

// saw learns from the attributes of a file that was made just now.
func (t *serverTime) saw(st fsys.Info) { t.ahead.Store(int64(st.Mtime.Sub(t.local()))) }

func (t *serverTime) now() time.Time { return t.local().Add(time.Duration(t.ahead.Load())) }

// tmpDir takes files that get their names by link; what a crash leaves there is
// swept by age.
const tmpDir = "queue/tmp"

// create makes an empty private file, open for appending, and reads the server's
// clock off it.
func (s *Sender) create(stem string) (fsys.File, string, fsys.Info, error) {
	name := tmpDir + "/" + stem + "." + s.random()
	f, err := s.c.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, fsys.FilePerm)
	if fsys.Gone(err) {
		if err = fsys.MkdirAll(s.c.FS, tmpDir); err == nil {
			f, err = s.c.FS.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, fsys.FilePerm)
		}
	}
	if err != nil {
		return nil, "", fsys.Info{}, err
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		_ = s.c.FS.Remove(name)
		return nil, "", fsys.Info{}, err
	}
	s.time.saw(st)
	return f, name, st, nil
}
