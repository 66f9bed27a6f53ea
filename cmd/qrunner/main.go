// Command qrunner delivers mailing lists: an MTA hands it posts, it applies each
// list's policy and fans out to the members through a smarthost. List state and
// queues live in one directory tree that several hosts may share.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// cli is the command tree; each command is a struct in a file of its name.
type cli struct {
	Config string `help:"Configuration file." default:"/etc/qrunner.yaml" env:"QRUNNER_CONFIG" placeholder:"FILE"`
	JSON   bool   `name:"json" help:"Machine-readable output."`

	Init    initCmd    `cmd:"" help:"Make a share: the site marker, the top folders, the site's own list."`
	Run     runCmd     `cmd:"" help:"Run the daemon: intake, lists, deliveries."`
	Deliver deliverCmd `cmd:"" help:"Take one message from standard input: the pipe target of an MTA."`
	Demo    demoCmd    `cmd:"" help:"Show the main job on a temporary share, with nothing else installed."`
	Version versionCmd `cmd:"" help:"Print the version."`

	ConfigCmd configCmd   `cmd:"" name:"config" help:"Check or print the configuration."`
	List      listCmd     `cmd:"" help:"Make, show, change and delete lists."`
	Member    memberCmd   `cmd:"" help:"The people of a list."`
	Prefs     prefsCmd    `cmd:"" help:"What people set for their address on all lists."`
	Queue     queueCmd    `cmd:"" help:"Look into the queues."`
	Post      postCmd     `cmd:"" help:"Try a post on a list's policy."`
	Held      heldCmd     `cmd:"" help:"Posts that wait for a moderator."`
	Pending   pendingCmd  `cmd:"" help:"Requests to join or leave, and invitations, that wait."`
	Digest    digestCmd   `cmd:"" help:"Digests: what waits, and sending them."`
	Template  templateCmd `cmd:"" help:"The texts that qrunner writes to people."`
	Shunt     shuntCmd    `cmd:"" help:"Mail that could not be processed."`
	Bounce    bounceCmd   `cmd:"" help:"Who bounces, and why."`
	Lock      lockCmd     `cmd:"" help:"Who holds which lock, and why."`
	DKIM      dkimCmd     `cmd:"" name:"dkim" help:"Keys that sign posts, and their DNS records."`
	Web       webCmd      `cmd:"" help:"Pages for members."`
	Archive   archCmd     `cmd:"" help:"Archived posts."`
	Trace     traceCmd    `cmd:"" help:"The history of one message."`
	Doctor    doctorCmd   `cmd:"" help:"Is the share fit? What is not, and the remedy."`
}

// run is the program: arguments in, exit status out. It never panics out.
func run(ctx context.Context, args []string, std stdio) int {
	args = aliasForm(args)
	if code, done := deliverParent(ctx, args, std); done {
		return code
	}
	var c cli
	exited := -1
	parser, err := kong.New(&c, kong.Name("qrunner"), kong.UsageOnError(),
		kong.Description("Mailing lists: an MTA hands posts in (LMTP, SMTP or a pipe), a smarthost carries the copies out. State and queues are one directory tree that several hosts may share."),
		kong.Writers(std.out, std.err), kong.Exit(func(code int) { exited = code }))
	if err != nil {
		return report(std, false, err)
	}
	k, err := parser.Parse(args[1:])
	if exited >= 0 {
		return exited // --help
	}
	if err != nil { // the parser has set nothing
		return report(std, slices.Contains(args, "--json"), &usageError{err})
	}
	a := &app{std: std, configFile: c.Config, json: c.JSON}
	k.BindTo(ctx, (*context.Context)(nil))
	err = k.Run(a)
	if cerr := a.close(ctx); err == nil {
		err = cerr
	}
	return report(std, c.JSON, err)
}

// usageError is a command line that means nothing.
type usageError struct{ err error }

// Error says what is wrong with it.
func (e *usageError) Error() string { return e.err.Error() + " (qrunner --help)" }

// Unwrap gives the parser's error.
func (e *usageError) Unwrap() error { return e.err }

// errSilent ends a command with status 1 after it has said everything itself.
var errSilent = errors.New("failed")
