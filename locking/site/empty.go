package site

import (
	"context"
	"errors"
	"slices"
	"strings"

	"qrunner/locking/fsys"
)

// foreign are the names that servers and file systems put into the top of an export.
var foreign = []string{"lost+found", ".snapshot", ".snapshots", ".zfs"}

// Strangers are the names in the top folder that neither a share nor an NFS server
// has there, in order. They mean that the folder is in use for something else. Where
// there is a marker, whatever its format, there are none.
func Strangers(ctx context.Context, f fsys.FS) ([]string, error) {
	if _, err := Check(ctx, f); !errors.Is(err, ErrNoSite) {
		return nil, nil // a share, or trouble that Init will meet
	}
	all, err := f.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all {
		own := slices.Contains(folders, e.Name) || e.Name == "backup" || strings.HasPrefix(e.Name, File)
		if !own && !slices.Contains(foreign, e.Name) && !strings.HasPrefix(e.Name, ".nfs") {
			out = append(out, e.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}
