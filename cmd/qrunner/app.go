package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"

	"qrunner/cmd/qrunner/config"
)

// app is what every command gets: where to write, the configuration, and the share
// once somebody needs it.
type app struct {
	std        stdio
	configFile string
	json       bool
	house      *house
}

// config loads the configuration file.
func (a *app) config() (config.Config, error) { return config.Load(a.configFile) }

// close gives back what commands opened.
func (a *app) close(ctx context.Context) error {
	if a.house == nil {
		return nil
	}
	return a.house.close(ctx)
}

// print writes v as JSON where that was asked for, else what text writes, in
// columns separated by tabs.
func (a *app) print(v any, text func(w io.Writer)) error {
	if a.json {
		enc := json.NewEncoder(a.std.out)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	w := tabwriter.NewWriter(a.std.out, 2, 8, 2, ' ', 0)
	text(w)
	return w.Flush()
}

// logger writes where and as the configuration says.
func (a *app) logger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // checked by config
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(a.std.err, opts))
	}
	return slog.New(slog.NewTextHandler(a.std.err, opts))
}

// actor names who changes something, for the audit trail.
func actor() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return "operator"
}
