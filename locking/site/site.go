// Package site keeps the marker that proves the share is mounted and initialised:
// the file qrunner.site at its root, a few readable lines with the site's id and
// the number of the on-disk format in force.
//
// Whoever is about to say "no such list" or to work on queues asks Check first: an
// empty mount point looks like a site without lists, and must never be taken for one.
package site

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"qrunner/locking/fsys"
)

// File is the marker's name at the root of the share.
const File = "qrunner.site"

// Format is the on-disk format that this version writes, and the newest it reads.
const Format = 1

// States of a share that Check tells apart.
var (
	// ErrNoSite: there is no marker. The share is not mounted here, or was never
	// initialised.
	ErrNoSite = errors.New("no site marker " + File)
	// ErrNewer: the format in force is newer than this version knows.
	ErrNewer = errors.New("site format is newer than this version of qrunner")
	// ErrDamaged: the marker is there and cannot be read as one.
	ErrDamaged = errors.New("site marker " + File + " is damaged")
)

// Marker is what the site's marker says.
type Marker struct {
	// ID is the site's own name: 32 hexadecimal digits, made once, by init.
	ID string
	// Format is the number of the on-disk format in force, >= 1.
	Format int
}

// Check reads the marker. Its errors are ErrNoSite, ErrNewer and ErrDamaged, each
// wrapped in a text that names the remedy, or a trouble of the share.
//
// Right after the first Init on another host, NFS may answer ErrNoSite for up to
// half a minute; never the other way round.
func Check(ctx context.Context, f fsys.FS) (Marker, error) {
	if err := ctx.Err(); err != nil {
		return Marker{}, fmt.Errorf("check site: %w", err)
	}
	data, err := fsys.ReadFile(f, File, maxMarker)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Marker{}, fmt.Errorf("check site: %w: mount the share, or, if it is new, run \"qrunner init\"", ErrNoSite)
	case errors.Is(err, fsys.ErrTooLarge):
		return Marker{}, damaged("too large")
	case err != nil:
		return Marker{}, fmt.Errorf("check site: %w", err)
	}
	m, err := parse(data)
	if err != nil {
		return Marker{}, damaged(err.Error())
	}
	if m.Format > Format {
		return m, fmt.Errorf("check site: %w (format %d, known up to %d): upgrade qrunner on this host", ErrNewer, m.Format, Format)
	}
	return m, nil
}

func damaged(why string) error {
	return fmt.Errorf("check site: %w (%s): restore it from a backup; its text says what belongs into it", ErrDamaged, why)
}
