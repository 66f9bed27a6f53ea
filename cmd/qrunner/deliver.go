package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"qrunner/cmd/qrunner/config"
	"qrunner/queue/intake"
)

// childMark in the environment says that this process is the child of deliver.
const childMark = "QRUNNER_DELIVER_CHILD"

type deliverCmd struct {
	Sender *string  `short:"f" help:"Envelope sender; else SENDER, Return-Path or the mbox line." placeholder:"ADDRESS"`
	Words  []string `arg:"" optional:"" help:"Recipient addresses; or an old alias form: post LIST, bounces LIST, request LIST, ..."`
}

// deliverParent runs deliver in a child process, so that whatever happens to it (a
// panic, a signal, a hang on a dead mount) the MTA is told to try again. It is done
// before anything else of the program could fail.
func deliverParent(ctx context.Context, args []string, std stdio) (code int, done bool) {
	words := args[1:]
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[:i] // what follows may be another program's
	}
	if os.Getenv(childMark) != "" || !slices.Contains(words, "deliver") || slices.Contains(words, "--help") {
		return 0, false
	}
	in, ok := std.in.(*os.File)
	if !ok {
		return 0, false
	}
	return intake.Parent(ctx, intake.Child{
		Args: args[1:], Env: append(os.Environ(), childMark+"=1"), Stdin: in, Out: std.out, Timeout: pipeTimeout(args),
	}), true
}

// pipeTimeout asks the configuration; one that cannot be read is the child's to
// complain about.
func pipeTimeout(args []string) time.Duration {
	c, err := config.Load(configFile(args))
	if err != nil {
		return config.Default().Limits.Pipe
	}
	return c.Limits.Pipe
}

// configFile finds the configuration before the command line is parsed.
func configFile(args []string) string {
	for i, a := range args {
		if v, ok := cutFlag(a); ok {
			return v
		}
		if a == "--config" && i+1 < len(args) {
			return args[i+1]
		}
	}
	if v := os.Getenv("QRUNNER_CONFIG"); v != "" {
		return v
	}
	return "/etc/qrunner.yaml"
}

func cutFlag(arg string) (string, bool) {
	const flag = "--config="
	if len(arg) > len(flag) && arg[:len(flag)] == flag {
		return arg[len(flag):], true
	}
	return "", false
}

// Run stores the message; it ends the process itself, with one of the few statuses
// that all MTAs understand alike.
func (c *deliverCmd) Run(ctx context.Context, a *app) error {
	err := c.deliver(ctx, a)
	status, line := intake.ExitStatus(err)
	if line != "" {
		fmt.Fprintln(a.std.out, line)
	}
	if status == 0 {
		return nil
	}
	return &statusError{status}
}

func (c *deliverCmd) deliver(ctx context.Context, a *app) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	warnRoot(h.conf, h.log)
	in := intake.New(intake.Config{
		Spool: h.spool, Directory: h.store, Trace: h.trace.Add, Host: h.host.Host, Domain: h.conf.Domain,
		Limits: h.intakeLimits(), Log: h.log,
	})
	err = in.Deliver(ctx, intake.DeliverArgs{Sender: c.Sender, Words: c.Words, Env: os.LookupEnv}, a.std.in)
	h.flushTrace(ctx)
	return err
}

// aliasForm lets the binary stand in old aliases under the names of Mailman's
// wrapper: "mailman post ant" is "qrunner deliver post ant".
func aliasForm(args []string) []string {
	if len(args) > 0 && filepath.Base(args[0]) == "mailman" {
		return append([]string{args[0], "deliver"}, args[1:]...)
	}
	return args
}

// statusError ends the program with a status; everything was said already.
type statusError struct{ code int }

// Error is for completeness: report prints nothing of it.
func (e *statusError) Error() string { return fmt.Sprintf("exit status %d", e.code) }
