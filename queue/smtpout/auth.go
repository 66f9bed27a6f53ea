package smtpout

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"qrunner/queue"
)

// authenticate runs AUTH (RFC 4954) with the best mechanism that both sides know.
func (s *session) authenticate() error {
	var a answer
	var err error
	switch {
	case !s.tls && !s.c.AuthInClear:
		err = errors.New("no TLS: the password is not sent")
	case slices.Contains(s.ext.auth, "PLAIN"):
		a, err = s.authPlain()
	case slices.Contains(s.ext.auth, "LOGIN"):
		a, err = s.authLogin()
	default:
		err = errors.New("neither AUTH PLAIN nor AUTH LOGIN is announced")
	}
	if err == nil && a.ok() {
		return nil
	}
	if err == nil && !a.refused() {
		err = errNotSMTP
	}
	s.redact(&a)
	return s.site(queue.PhaseAuth, a, err)
}

// authPlain is RFC 4616; a server that overlooks the initial response gets it again.
func (s *session) authPlain() (answer, error) {
	a, err := s.ask(s.c.Timeouts.Greeting, "AUTH PLAIN ", s.plain())
	if err == nil && a.code == 334 {
		a, err = s.ask(s.c.Timeouts.Greeting, s.plain())
	}
	return a, err
}

func (s *session) authLogin() (answer, error) {
	a, err := s.ask(s.c.Timeouts.Greeting, "AUTH LOGIN")
	for _, text := range []string{s.c.Username, string(s.c.Password)} {
		if err != nil || a.code != 334 {
			break
		}
		a, err = s.ask(s.c.Timeouts.Greeting, base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return a, err
}

func (s *session) plain() string {
	return base64.StdEncoding.EncodeToString([]byte("\x00" + s.c.Username + "\x00" + string(s.c.Password)))
}

// redact takes our secret out of an answer: some servers quote what they did not
// like.
func (s *session) redact(a *answer) {
	text := string(a.lines)
	pass := string(s.c.Password)
	for _, secret := range []string{s.plain(), base64.StdEncoding.EncodeToString([]byte(pass)), pass} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	a.lines = []byte(text)
}
