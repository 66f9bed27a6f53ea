package config

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gopkg.in/yaml.v3"
)

// Error is a fault in the file: where, which key, what is wrong and what to do.
type Error struct {
	File string
	Line int
	Key  string
	Err  error
	Hint string
}

// Error is one line: file:line: key: fault (remedy).
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	s += ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the fault.
func (e *Error) Unwrap() error { return e.Err }

// Load reads the file over the defaults and checks every value.
func Load(file string) (Config, error) {
	r, err := os.Open(file)
	if err != nil {
		return Config{}, &Error{File: file, Err: err, Hint: "copy config.example.yaml there, or name another file with --config"}
	}
	defer r.Close()
	return Read(file, r)
}

// Read is Load from a reader; file names it in errors.
func Read(file string, r io.Reader) (Config, error) {
	c := Default()
	var doc yaml.Node
	err := yaml.NewDecoder(r).Decode(&doc)
	if errors.Is(err, io.EOF) {
		return c, nil
	}
	if err != nil {
		return Config{}, &Error{File: file, Err: err, Hint: "the file must be YAML"}
	}
	d := decoder{file: file, lines: map[string]int{}}
	if err := d.node(&c, &doc); err != nil {
		return Config{}, err
	}
	if err := d.check(&c); err != nil {
		return Config{}, err
	}
	return c, nil
}
