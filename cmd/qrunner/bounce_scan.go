package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode"

	"qrunner/lists/bounces"
)

type bounceScanCmd struct {
	Files []string `arg:"" name:"file" help:"Messages, or folders of them; -: standard input."`
}

// scanned is what is known of one file.
type scanned struct {
	File       string           `json:"file"`
	Kind       bounces.Kind     `json:"kind,omitempty"`
	Recipients []bounces.Result `json:"recipients"`
	Error      string           `json:"error,omitempty"`
}

// maxScanned is more than the detectors look at, in octets.
const maxScanned = 2 << 20

// Run prints one object a file (with --json, one a line). A file that cannot be read is
// said so, the others are scanned all the same.
func (c *bounceScanCmd) Run(ctx context.Context, a *app) error {
	out := tabwriter.NewWriter(a.std.out, 2, 8, 2, ' ', 0)
	lines := json.NewEncoder(a.std.out)
	lines.SetEscapeHTML(false)
	var failed error
	err := eachFile(c.Files, func(name string, err error) error {
		if cerr := context.Cause(ctx); cerr != nil {
			return cerr
		}
		s := scanned{File: name, Recipients: []bounces.Result{}}
		if err == nil {
			err = a.scanFile(&s)
		}
		if err != nil {
			s.Error, failed = err.Error(), cmp.Or(failed, err)
		}
		if a.json {
			return lines.Encode(s)
		}
		return s.print(out)
	})
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if failed != nil {
		return &statusError{exitStatus(failed)}
	}
	return nil
}

// eachFile calls fn for every file that is named, and for those below folders.
func eachFile(names []string, fn func(name string, err error) error) error {
	for _, name := range names {
		if name == "-" {
			if err := fn(name, nil); err != nil {
				return err
			}
			continue
		}
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || path != name && !d.Type().IsRegular() && d.Type() != fs.ModeSymlink) {
				return nil
			}
			return fn(path, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) scanFile(s *scanned) error {
	in := a.std.in
	if s.File != "-" {
		f, err := os.Open(s.File)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxScanned))
	if err != nil {
		return err
	}
	found := bounces.Scan(raw)
	s.Kind, s.Recipients = found.Kind, append(s.Recipients, found.Recipients...)
	return nil
}

// print writes one line a recipient.
func (s scanned) print(w io.Writer) error {
	if s.Error != "" {
		_, err := fmt.Fprintf(w, "%s\terror\t%s\n", s.File, s.Error)
		return err
	}
	var err error
	if len(s.Recipients) == 0 {
		_, err = fmt.Fprintf(w, "%s\t%s\n", s.File, s.Kind)
	}
	for _, r := range s.Recipients {
		blame := ""
		if r.Policy {
			blame = "policy"
		}
		_, werr := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.File, s.Kind, cmp.Or(r.Address, "-"), r.Class, r.Reason, blame, r.Detector, visible(r.Diagnostic))
		err = cmp.Or(err, werr)
	}
	return err
}

// visible is a stranger's text for a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}
