package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"qrunner/lists/message"
	"qrunner/queue/queuetest"
	"qrunner/queue/trace"
)

//go:embed testdata/demo/*.eml
var demoMail embed.FS

// show posts the demo's messages one after the other, and prints what became of them.
func (d *demo) show(ctx context.Context) error {
	select {
	case d.lmtp = <-d.doors:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	fmt.Fprintf(d.out, "share      %s\nlist       %s, %d members, posts of others are held\nLMTP       %s\nsmarthost  a built-in sink\n\n",
		d.daemon.conf.Var, demoList, len(demoMembers), d.lmtp)
	files, err := demoMail.ReadDir("testdata/demo")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(d.out, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "WENT IN\tANSWER\tDECIDED\tWHY")
	for _, f := range files {
		raw, err := demoMail.ReadFile("testdata/demo/" + f.Name())
		if err != nil {
			return err
		}
		raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
		reply, err := d.post(ctx, raw)
		if err != nil {
			return fmt.Errorf("post %s: %w", f.Name(), err)
		}
		ev, err := d.decided(ctx, raw)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", f.Name(), err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.Name(), reply, ev.Event, ev.Detail)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := d.sink.Wait(ctx, int64(len(demoMembers))); err != nil {
		return fmt.Errorf("wait for the copies: %w", err)
	}
	return d.copies()
}

// post speaks LMTP (RFC 2033) as an MTA would.
func (d *demo) post(ctx context.Context, raw []byte) (string, error) {
	sender := strings.Trim(message.Parse(raw).Get("From"), ">")
	sender = sender[strings.LastIndexAny(sender, "< ")+1:]
	c, err := textproto.Dial("tcp", d.lmtp)
	if err != nil {
		return "", err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	if _, _, err := c.ReadResponse(220); err != nil {
		return "", err
	}
	for _, step := range []struct {
		code int
		line string
	}{
		{250, "LHLO demo.example.org"}, {250, "MAIL FROM:<" + sender + ">"},
		{250, "RCPT TO:<" + string(demoList) + ">"}, {354, "DATA"},
	} {
		if err := c.PrintfLine("%s", step.line); err != nil {
			return "", err
		}
		if _, _, err := c.ReadResponse(step.code); err != nil {
			return "", fmt.Errorf("%s: %w", step.line, err)
		}
	}
	dot := c.DotWriter()
	if _, err := dot.Write(raw); err != nil {
		return "", err
	}
	if err := dot.Close(); err != nil {
		return "", err
	}
	code, text, err := c.ReadResponse(250)
	return fmt.Sprintf("%d %s", code, text), err
}

// decided waits for the runner's word on a post. The trace tells it by Message-ID;
// posts with the same one are told apart by how many words there were before.
func (d *demo) decided(ctx context.Context, raw []byte) (trace.Event, error) {
	id := message.Parse(raw).Get("Message-ID")
	if d.told == nil {
		d.told = map[string]int{}
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		events, err := trace.Search(ctx, d.daemon.fs, func(e *trace.Event) bool { return e.MessageID == id && e.Queue == "in" })
		if err != nil {
			return trace.Event{}, err
		}
		if len(events) > d.told[id] {
			d.told[id] = len(events)
			return events[len(events)-1], nil
		}
		select {
		case <-ctx.Done():
			return trace.Event{}, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// copies prints who got what, and one copy as it arrived.
func (d *demo) copies() error {
	got := d.sink.Messages()
	slices.SortFunc(got, func(a, b queuetest.SinkMessage) int { return strings.Compare(a.Recipients[0], b.Recipients[0]) })
	w := tabwriter.NewWriter(d.out, 2, 8, 2, ' ', 0)
	fmt.Fprintln(w, "\nWENT OUT TO\tENVELOPE SENDER\tMESSAGE")
	for _, m := range got {
		for _, r := range m.Recipients {
			fmt.Fprintf(w, "%s\t%s\t%s\n", r, m.Sender, m.MessageID)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(got) == 0 {
		return fmt.Errorf("no copy arrived")
	}
	_, err := fmt.Fprintf(d.out, "\nThe first of them:\n\n%s\n", indent(got[0].Raw))
	return err
}

func indent(raw []byte) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n"), "\n", "\n    ")
}
