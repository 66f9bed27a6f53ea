package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints what the build knows of itself.
func (c *versionCmd) Run(a *app) error {
	v := buildVersion()
	return a.print(v, func(w io.Writer) { fmt.Fprintf(w, "qrunner %s (%s)\n", v["version"], v["go"]) })
}

func buildVersion() map[string]string {
	out := map[string]string{"version": "devel"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	out["go"] = info.GoVersion
	if v := info.Main.Version; v != "" && v != "(devel)" {
		out["version"] = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			out["revision"] = s.Value
		}
	}
	return out
}
