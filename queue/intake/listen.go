package intake

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"
)

// Endpoint is where a server listens.
type Endpoint struct {
	// Addr is "host:port", or "unix:" and a path.
	Addr string
	// Mode is the permission bits of a unix socket, 0 leaves them to the umask. UID
	// and GID are its owner; -1 leaves either alone.
	Mode     fs.FileMode
	UID, GID int
}

// Listen opens an endpoint. A unix socket appears under its name with owner and mode
// set, in the place of one that nobody answers on any more; one that somebody
// answers on is an error. The socket lies on this host's own disk.
func Listen(ctx context.Context, e Endpoint) (net.Listener, error) {
	path, unix := strings.CutPrefix(e.Addr, "unix:")
	if !unix {
		var lc net.ListenConfig
		return lc.Listen(ctx, "tcp", e.Addr)
	}
	d := net.Dialer{Timeout: time.Second}
	if c, err := d.DialContext(ctx, "unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("listen on %s: another process answers there", path)
	}
	l, err := e.bind(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return l, nil
}

// bind makes the socket under another name first, since it can be given its owner
// and mode only once it is there.
func (e Endpoint) bind(path string) (net.Listener, error) {
	made := fmt.Sprintf("%s.%d", path, os.Getpid())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	own, err := e.place(made, path)
	if err != nil {
		l.Close()
		os.Remove(made)
		return nil, err
	}
	return &socket{l, path, own}, nil
}

func (e Endpoint) place(made, path string) (fs.FileInfo, error) {
	if e.UID >= 0 || e.GID >= 0 {
		if err := os.Chown(made, e.UID, e.GID); err != nil {
			return nil, err
		}
	}
	if e.Mode != 0 {
		if err := os.Chmod(made, e.Mode); err != nil {
			return nil, err
		}
	}
	own, err := os.Lstat(made)
	if err != nil {
		return nil, err
	}
	return own, os.Rename(made, path)
}

// socket removes its name when it is closed, unless a successor has taken it.
type socket struct {
	*net.UnixListener
	path string
	own  fs.FileInfo
}

// Addr is the socket's lasting name.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

// Close stops listening.
func (s *socket) Close() error {
	if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.own) {
		os.Remove(s.path)
	}
	return s.UnixListener.Close()
}
