package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"qrunner/lists"
	"qrunner/lists/chains"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/queue"
	"qrunner/queue/stage"
)

type postCmd struct {
	Check postCheckCmd `cmd:"" help:"What would become of a post, and why. Nothing is changed or sent."`
}

type postCheckCmd struct {
	List       string `arg:"" help:"Posting address."`
	File       string `arg:"" help:"The message; - reads standard input."`
	From       string `help:"Envelope sender; <> for none. Without it: the first address in From." placeholder:"ADDRESS"`
	Recipients bool   `help:"Also each address that would get it."`
	Cooked     bool   `help:"Also the message as it would go out."`
}

// checked is what post check prints.
type checked struct {
	List    lists.ID      `json:"list"`
	Sender  string        `json:"sender"`
	Event   string        `json:"event"`
	Verdict lists.Action  `json:"verdict"`
	Rule    string        `json:"rule"`
	Reason  string        `json:"reason"`
	Rules   []chains.Step `json:"rules"`
	// Gets is how many would get it at once, Modes the members by delivery mode.
	Gets    int                        `json:"gets"`
	Modes   map[lists.DeliveryMode]int `json:"modes"`
	Notices []string                   `json:"notices"`
	// Notes are what the handlers did that a person may ask about.
	Notes      []string           `json:"notes,omitempty"`
	Recipients []mailaddr.Address `json:"recipients,omitempty"`
	Cooked     string             `json:"cooked,omitempty"`
}

// Run puts the message through the stage that judges real posts.
func (c *postCheckCmd) Run(ctx context.Context, a *app) error {
	raw, err := c.read(a.std.in)
	if err != nil {
		return err
	}
	st, err := a.read(ctx, c.List)
	if err != nil {
		return err
	}
	e, err := c.entry(st, raw)
	if err != nil {
		return err
	}
	o, err := stage.Table(a.house.stages())[queue.In].Process(ctx, &queue.Work{Entry: e, List: st.List(), State: st})
	if err != nil {
		return fmt.Errorf("judge post: %w", err)
	}
	out := c.report(st, e, o)
	if err := a.print(out, func(w io.Writer) { out.print(w) }); err != nil || a.json || out.Cooked == "" {
		return err
	}
	_, err = fmt.Fprintf(a.std.out, "\n%s", message.LF([]byte(out.Cooked)))
	return err
}

// read is the message with the line ends that mail has on its way.
func (c *postCheckCmd) read(in io.Reader) ([]byte, error) {
	var raw []byte
	var err error
	if c.File == "-" {
		raw, err = io.ReadAll(in)
	} else {
		raw, err = os.ReadFile(c.File)
	}
	if err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	if len(raw) == 0 {
		return nil, &usageError{errors.New("the message is empty")}
	}
	if !bytes.Contains(raw, []byte("\r\n")) {
		raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
	}
	return raw, nil
}

// entry is the post as intake would store it.
func (c *postCheckCmd) entry(st *store.State, raw []byte) (*queue.Entry, error) {
	now := time.Now().UTC()
	e := &queue.Entry{ID: queue.NewID(now, 0, "check", 0), Queue: queue.In, List: st.ID(), Raw: raw}
	e.Target = lists.Target{List: st.ID()}
	e.Received, e.Source, e.Trace = now, "check", "check"
	if c.From != "" {
		var err error
		if e.Sender, err = mailaddr.ParsePath(c.From); err != nil {
			return nil, &usageError{fmt.Errorf("--from: %w", err)}
		}
	} else if from := message.Parse(raw).Addresses("From"); len(from) > 0 {
		e.Sender = from[0]
	}
	return e, nil
}

func (c *postCheckCmd) report(st *store.State, e *queue.Entry, o *queue.Outcome) *checked {
	out := &checked{List: st.ID(), Sender: "<" + string(e.Sender) + ">", Event: o.Event, Reason: o.Reason, Modes: map[lists.DeliveryMode]int{}, Notices: []string{}}
	if v := o.Verdict; v != nil {
		out.Notes = v.Notes
		out.Verdict, out.Rule, out.Reason, out.Rules = v.Action, v.Rule, v.Reason, chains.Explain(e.Target, *v)
	}
	for _, child := range o.Children {
		switch {
		case child.Fanout != nil:
			out.take(c, st, child.Fanout)
		case child.Entry != nil && child.Entry.Queue == queue.Virgin:
			out.Notices = append(out.Notices, message.Parse(child.Entry.Raw).Get("To"))
		}
	}
	return out
}

// take notes who would get the post, and as what.
func (out *checked) take(c *postCheckCmd, st *store.State, f *queue.Fanout) {
	out.Gets = len(f.Recipients)
	for m := range st.List().Roster.All(lists.RoleMember) {
		if m.Status == "" || m.Status == lists.StatusEnabled {
			out.Modes[lists.DeliveryMode(or(string(m.Mode), string(lists.ModeRegular)))]++
		}
	}
	if c.Recipients {
		for _, r := range f.Recipients {
			out.Recipients = append(out.Recipients, r.Address)
		}
	}
	if c.Cooked {
		out.Cooked = string(f.Raw)
	}
}

// print writes the report for a person.
func (out *checked) print(w io.Writer) {
	fmt.Fprintf(w, "list\t%s\nsender\t%s\n", out.List, out.Sender)
	if len(out.Rules) > 0 {
		fmt.Fprintln(w, "\nRULE\t\tWHY")
	}
	for _, s := range out.Rules {
		switch {
		case s.Hit:
			fmt.Fprintf(w, "%s\thit: %s\t%s\n", s.Rule, s.Action, s.Reason)
		case s.Asked:
			fmt.Fprintf(w, "%s\tmiss\t%s\n", s.Rule, "not so: "+s.Doc)
		default:
			fmt.Fprintf(w, "%s\t-\tnot asked any more\n", s.Rule)
		}
	}
	fmt.Fprintf(w, "\nverdict\t%s\nwhy\t%s\n", out.Event, out.Reason)
	for _, note := range out.Notes {
		fmt.Fprintf(w, "note\t%s\n", note)
	}
	for _, to := range out.Notices {
		fmt.Fprintf(w, "notice to\t%s\n", to)
	}
	if out.Event == "accepted" {
		fmt.Fprintf(w, "gets it now\t%d\n", out.Gets)
		for _, mode := range []lists.DeliveryMode{lists.ModeRegular, lists.ModeMIMEDigests, lists.ModePlainDigests, lists.ModeSummaryDigests} {
			fmt.Fprintf(w, "  %s\t%s\n", mode, count(out.Modes[mode], "member"))
		}
	}
	for _, r := range out.Recipients {
		fmt.Fprintf(w, "to\t%s\n", r)
	}
}
