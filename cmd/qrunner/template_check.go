package main

import (
	"context"
	"fmt"
	"io"

	"qrunner/queue/stage"
)

type templateCheckCmd struct{}

// Run looks at every file below templates/ on the share, and ends with status 1 if one
// of them cannot be used.
func (c *templateCheckCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	all, err := stage.CheckTemplates(ctx, h.fs)
	if err != nil {
		return fmt.Errorf("check templates: %w", err)
	}
	bad := 0
	for _, t := range all {
		if t.Problem != "" {
			bad++
		}
	}
	err = a.print(all, func(w io.Writer) {
		for _, t := range all {
			if t.Problem != "" {
				fmt.Fprintf(w, "%s\t%s\n", t.File, t.Problem)
			}
		}
		fmt.Fprintf(w, "%d templates of one's own, %d of them cannot be used\n", len(all), bad)
	})
	if err == nil && bad > 0 {
		return errSilent
	}
	return err
}
