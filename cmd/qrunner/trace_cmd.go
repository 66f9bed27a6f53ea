package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"qrunner/queue/trace"
)

type traceCmd struct {
	Message string `arg:"" help:"Message-ID or trace id."`
}

// traceTime is RFC 3339 with milliseconds, each as wide as any other.
const traceTime = "2006-01-02T15:04:05.000Z07:00"

// Run prints what became of a message, on all hosts, oldest first.
func (c *traceCmd) Run(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	events, err := trace.Story(ctx, h.fs, c.Message)
	if err != nil {
		return fmt.Errorf("search traces: %w", err)
	}
	nothing := error(nil)
	if len(events) == 0 {
		events = []trace.Event{}
		nothing = fmt.Errorf("trace %s: %w: no host has a record of it (a Message-ID without its brackets, or a trace id)", c.Message, errNothing)
	}
	return errors.Join(nothing, a.print(events, func(w io.Writer) {
		for _, e := range events {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Time.UTC().Format(traceTime), e.Host, e.List, e.Event, e.Rcpt, strings.Join(strings.Fields(e.Detail), " "))
		}
	}))
}
