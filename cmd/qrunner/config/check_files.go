package config

import (
	"errors"
	"io"
	"os"
)

// CheckFiles tries to read every file that c names, as the daemon will; file names the
// configuration in errors.
func CheckFiles(file string, c Config) error {
	for _, row := range []struct{ key, name string }{
		{"smarthost.password_file", c.Smarthost.PasswordFile},
		{"smarthost.ca_file", c.Smarthost.CAFile},
		{"lock.ca_file", c.Lock.CAFile},
		{"lock.cert_file", c.Lock.CertFile},
		{"lock.key_file", c.Lock.KeyFile},
		{"lock.auth_file", c.Lock.AuthFile},
	} {
		if row.name == "" {
			continue
		}
		if err := readable(row.name); err != nil {
			return &Error{File: file, Key: row.key, Err: err, Hint: "the user who runs qrunner must be able to read it"}
		}
	}
	return nil
}

func readable(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return err // a folder can be opened, and not read
	}
	return nil
}
