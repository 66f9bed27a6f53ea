package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/locking/fsys"
)

// maxSize is the largest file that is read as a post, in octets.
const maxSize = 256 << 20

// ExportMbox writes the list's archive as a mailbox file (mboxrd: lines that start with
// "From ", quoted or not, get one ">" more), oldest month first, each month in the
// order of acceptance. A list without archive writes nothing.
func ExportMbox(ctx context.Context, f fsys.FS, id lists.ID, w io.Writer) error {
	root := path.Join("lists", string(id), folder)
	months, err := names(f, root)
	if err != nil {
		return err
	}
	for _, m := range months {
		if _, err := time.Parse(month, m); err != nil {
			continue
		}
		posts, err := names(f, path.Join(root, m, "cur"))
		if err != nil {
			return err
		}
		for _, p := range posts {
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("export archive: %w", err)
			}
			raw, err := fsys.ReadFile(f, path.Join(root, m, "cur", p), maxSize)
			if err != nil {
				return fmt.Errorf("export archive: %w", err)
			}
			if _, err := w.Write(mboxEntry(p, raw)); err != nil {
				return fmt.Errorf("export archive: write: %w", err)
			}
		}
	}
	return nil
}

// names lists a folder in order; one that is not there is empty.
func names(f fsys.FS, dir string) ([]string, error) {
	entries, err := f.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("export archive: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, ".") {
			out = append(out, e.Name)
		}
	}
	return out, nil
}

// mboxEntry is one message with its separator and the empty line behind it.
func mboxEntry(name string, raw []byte) []byte {
	m := message.Parse(raw)
	sender := "MAILER-DAEMON"
	if as := m.Addresses("From"); len(as) > 0 && !strings.Contains(string(as[0]), " ") {
		sender = string(as[0])
	}
	out := fmt.Appendf(nil, "From %s %s\n", sender, taken(name).Format("Mon Jan _2 15:04:05 2006"))
	for line := range bytes.Lines(raw) {
		if bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
			out = append(out, '>')
		}
		out = append(out, line...)
	}
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, '\n')
}

// taken is when the entry behind a file was made: its name begins with that.
func taken(name string) time.Time {
	us, err := strconv.ParseInt(name[:min(len(name), 16)], 16, 64)
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return time.UnixMicro(us).UTC()
}
