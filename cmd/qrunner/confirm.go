package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// errNotAsked: nobody is there to ask, and --yes was not said.
var errNotAsked = errors.New("standard input is no terminal: say --yes")

// confirm asks a yes-or-no question on the terminal. Anything but y or yes is no.
func (a *app) confirm(question string) (bool, error) {
	in, ok := a.std.in.(*os.File)
	if !ok || !isTerminal(in) {
		return false, &usageError{errNotAsked}
	}
	fmt.Fprintf(a.std.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && line == "" {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
