package main

import (
	"fmt"
	"io"

	"qrunner/cmd/qrunner/config"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Say whether the file is right; each fault with line, key and remedy."`
	Print configPrintCmd `cmd:"" help:"Print what is in force."`
}

type configCheckCmd struct{}

// Run loads the file, which is checking, and looks for what it names on this machine.
func (c *configCheckCmd) Run(a *app) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	if conf.User != "" {
		if _, _, err := configUser(a.configFile, conf); err != nil {
			return err
		}
	}
	if err := config.CheckFiles(a.configFile, conf); err != nil {
		return err
	}
	return a.print(map[string]bool{"ok": true}, func(w io.Writer) { fmt.Fprintf(w, "%s is right\n", a.configFile) })
}

type configPrintCmd struct {
	Example bool `help:"Print every key with its documentation and default instead."`
}

// Run prints YAML, or JSON with --json.
func (c *configPrintCmd) Run(a *app) error {
	if c.Example {
		return config.Example(a.std.out)
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	if a.json {
		return a.print(config.Values(conf), nil)
	}
	return config.Print(a.std.out, conf)
}
