package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"qrunner/lists"
	"qrunner/lists/templates"
	"qrunner/queue/stage"
)

type templateEditCmd struct {
	Name   templates.Name `arg:"" help:"Template, such as list:user:notice:welcome."`
	List   string         `help:"For this list." placeholder:"ADDRESS" xor:"scope"`
	Domain string         `help:"For the lists of this mail domain." placeholder:"DOMAIN" xor:"scope"`
	Site   bool           `help:"For every list." xor:"scope"`
	Lang   string         `help:"In this language." default:"en"`
	File   string         `help:"Take the text from this file (- is standard input) instead of calling the editor."`
	Remove bool           `help:"Take one's own away: what is below it counts again."`
}

// Run puts a text on the share, after a check; without --file it comes from $VISUAL or
// $EDITOR.
func (c *templateEditCmd) Run(ctx context.Context, a *app) error {
	if _, err := templates.Lookup(c.Name); err != nil {
		return &usageError{err}
	}
	if c.List == "" && c.Domain == "" && !c.Site {
		return &usageError{errors.New("for whom? say one of --list ADDRESS, --domain DOMAIN, --site")}
	}
	if err := lists.CheckSetting("preferred_language", c.Lang); err != nil {
		return &usageError{err}
	}
	l, err := a.listOrSite(ctx, c.List)
	if err != nil {
		return err
	}
	name := templates.File(c.scope(l), c.Lang, c.Name)
	if c.Remove {
		return a.told(stage.RemoveTemplate(a.house.fs, name), "removed "+name)
	}
	text, err := c.text(ctx, a, l, name)
	if err != nil {
		return err
	}
	if err := templates.Check(c.Name, text); err != nil {
		return &dataError{fmt.Errorf("template %s is left as it was: %w", c.Name, err)}
	}
	return a.told(stage.WriteTemplate(a.house.fs, name, text), "wrote "+name)
}

// told prints what was done, or passes the error on.
func (a *app) told(err error, done string) error {
	if err != nil {
		return err
	}
	return a.print(map[string]string{"done": done}, func(w io.Writer) { fmt.Fprintln(w, done) })
}

func (c *templateEditCmd) scope(l *lists.List) templates.Scope {
	switch {
	case c.Site:
		return templates.SiteScope
	case c.Domain != "":
		return templates.DomainScope(c.Domain)
	}
	return templates.ListScope(l.ID)
}

// text is what shall stand there: of a file, or of an editor that begins with what
// counts now.
func (c *templateEditCmd) text(ctx context.Context, a *app, l *lists.List, name string) (string, error) {
	switch c.File {
	case "-":
		data, err := io.ReadAll(io.LimitReader(a.std.in, templates.MaxSize+1))
		return string(data), err
	case "":
	default:
		data, err := os.ReadFile(c.File)
		if err != nil {
			return "", &inputError{fmt.Errorf("read template: %w", err)}
		}
		return string(data), nil
	}
	old, err := stage.TemplateFiles(a.house.fs)(name)
	if errors.Is(err, fs.ErrNotExist) {
		var f templates.Found
		f, err = a.house.texts.Find(ctx, l, c.Name, c.Lang)
		old = f.Text
	}
	if err != nil {
		return "", err
	}
	return a.edited(ctx, old)
}

// edited has a person change a text.
func (a *app) edited(ctx context.Context, text string) (string, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return "", &usageError{errors.New("neither VISUAL nor EDITOR is set: say --file")}
	}
	f, err := os.CreateTemp("", "qrunner-*.txt")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.std.in, a.std.out, a.std.err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run %s: %w", editor, err)
	}
	data, err := os.ReadFile(f.Name())
	return string(data), err
}
