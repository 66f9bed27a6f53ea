package main

import (
	"fmt"
	"io"
	"time"

	"qrunner/queue"
)

// showEntry prints what the queue knows of a message, then the message.
func (a *app) showEntry(e *queue.Entry, raw bool) error {
	if raw {
		_, err := a.std.out.Write(e.Raw)
		return err
	}
	return a.print(e, func(w io.Writer) {
		fmt.Fprintf(w, "id\t%s\nqueue\t%s\nlist\t%s\nsender\t<%s>\nto\t%s\n", e.ID, e.Queue, e.List, e.Sender, e.Target.Address())
		fmt.Fprintf(w, "received\t%s\nsource\t%s\ntrace\t%s\nsize\t%d\n", e.Received.Format(time.RFC3339), e.Source, e.Trace, len(e.Raw))
		if e.Meta.Cause != "" {
			fmt.Fprintf(w, "cause\t%s\n", e.Meta.Cause)
		}
		fmt.Fprintf(w, "\n%s\n", e.Raw)
	})
}
