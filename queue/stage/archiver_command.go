package stage

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"qrunner/lists"
	"qrunner/queue"
)

// byCommand marks entries that only the list's program has still to get.
const byCommand = "command"

const (
	// programTime is how long a program may take over one post: the list is held meanwhile.
	programTime = 30 * time.Second
	// programRest is how long a program that failed is left alone.
	programRest = time.Minute
	// programSays is how much of what it says is kept, in octets.
	programSays = 1000
)

// programs runs the programs that archive posts. One that failed is not tried again for a
// while, by any list.
type programs struct{ failed sync.Map } // command line -> time of the failure

func newPrograms() *programs { return &programs{} }

// feed gives the program the post. It may get a post twice, if the host dies before the
// entry is gone: Message-ID tells.
func (p *programs) feed(ctx context.Context, w *queue.Work) (*queue.Outcome, error) {
	args := programArgs(w.List)
	if len(args) == 0 {
		return &queue.Outcome{Event: "archived", Reason: "archive_command is empty by now"}, nil
	}
	line := strings.Join(args, " ")
	if at, ok := p.failed.Load(line); ok && time.Since(at.(time.Time)) < programRest {
		return nil, fmt.Errorf("archive_command %s: %w: it failed a moment ago", args[0], queue.ErrTrouble)
	}
	if err := runProgram(ctx, args, w.Entry.Raw); err != nil {
		p.failed.Store(line, time.Now())
		return nil, fmt.Errorf("archive_command %s: %w: %w", args[0], queue.ErrTrouble, err)
	}
	p.failed.Delete(line)
	return &queue.Outcome{Event: "archived", Reason: "by " + args[0]}, nil
}

// programArgs is the command line; a value is one argument, whatever is in it.
func programArgs(l *lists.List) []string {
	args := strings.Fields(l.Settings.Text("archive_command"))
	r := strings.NewReplacer("$listname", string(l.ID.Posting()), "$list_id", l.ID.ListID(), "$short_listname", l.ID.Local(), "$domain", l.ID.Domain())
	for i := range args {
		args[i] = r.Replace(args[i])
	}
	return args
}

// runProgram waits for the program's end; an exit status other than 0 is an error.
func runProgram(ctx context.Context, args []string, in []byte) error {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(in)
	var said capped
	cmd.Stderr = &said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if text := plain(strings.TrimSpace(said.String())); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// capped keeps the beginning of what is written to it.
type capped struct{ strings.Builder }

// Write implements io.Writer.
func (c *capped) Write(b []byte) (int, error) {
	c.Builder.Write(b[:min(len(b), programSays-c.Len())])
	return len(b), nil
}
