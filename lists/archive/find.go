package archive

import (
	"context"
	"fmt"
	"path"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/locking/fsys"
)

// Find names the files of a list's archive, from the share's root, that have a Message-ID
// (without angle brackets), those for programs that watch the inbox included.
func Find(ctx context.Context, f fsys.FS, id lists.ID, msgid string) ([]string, error) {
	root := path.Join("lists", string(id), folder)
	months, err := names(f, root)
	if err != nil {
		return nil, err
	}
	var out []string
	folders := []string{path.Join(root, "inbox/new"), path.Join(root, "inbox/cur")}
	for _, m := range months {
		if m != "inbox" {
			folders = append(folders, path.Join(root, m, "cur"))
		}
	}
	for _, dir := range folders {
		posts, err := names(f, dir)
		if err != nil {
			return nil, err
		}
		for _, p := range posts {
			if err := context.Cause(ctx); err != nil {
				return nil, fmt.Errorf("search archive: %w", err)
			}
			name := path.Join(dir, p)
			raw, err := fsys.ReadFile(f, name, maxSize)
			if err != nil {
				return nil, fmt.Errorf("search archive: %w", err)
			}
			if message.Parse(raw).MessageID() == msgid {
				out = append(out, name)
			}
		}
	}
	return out, nil
}
