package queuetest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"qrunner/queue"
)

// command does one command line.
func (x *sinkSession) command(line []byte) error {
	verb, arg, _ := bytes.Cut(line, []byte{' '})
	switch string(bytes.ToUpper(verb)) {
	case "MAIL":
		return x.mail(arg)
	case "RCPT":
		return x.rcpt(arg)
	case "DATA":
		return x.data()
	case "EHLO":
		return x.ehlo(string(arg))
	case "HELO":
		_, err := x.step(queue.PhaseEHLO, string(arg), "250 sink")
		return err
	case "STARTTLS":
		return x.startTLS()
	case "AUTH":
		return x.auth(string(arg))
	case "RSET":
		x.clear()
		_, err := x.step(PhaseReset, "", "250 2.0.0 ok")
		return err
	case "NOOP":
		x.say("250 2.0.0 ok")
		return nil
	case "QUIT":
		if _, err := x.step(PhaseQuit, "", "221 2.0.0 bye"); err != nil {
			return err
		}
		return errEnd
	default:
		x.violation(x.n, "unknown command %q", line)
		x.say("500 5.5.2 unknown command")
		return nil
	}
}

func (x *sinkSession) ehlo(name string) error {
	if x.c.NoEHLO {
		_, err := x.step(queue.PhaseEHLO, name, "500 5.5.2 unknown command")
		return err
	}
	text := []string{"sink", "ENHANCEDSTATUSCODES"}
	add := func(yes bool, word string) {
		if yes {
			text = append(text, word)
		}
	}
	size := "SIZE"
	if x.c.Size > 0 {
		size += " " + strconv.Itoa(x.c.Size)
	}
	add(true, size)
	add(!x.c.NoPipelining, "PIPELINING")
	add(!x.c.NoEightBit, "8BITMIME")
	add(!x.c.NoUTF8, "SMTPUTF8")
	add(x.c.XVERP, "XVERP")
	add(x.c.TLS == SinkStartTLS && !x.tls, "STARTTLS")
	add(x.c.Users != nil && x.c.LoginOnly, "AUTH LOGIN")
	add(x.c.Users != nil && !x.c.LoginOnly, "AUTH PLAIN LOGIN")
	last := len(text) - 1
	_, err := x.step(queue.PhaseEHLO, name, "250-"+strings.Join(text[:last], "\n250-")+"\n250 "+text[last])
	return err
}

func (x *sinkSession) startTLS() error {
	if x.c.TLS != SinkStartTLS || x.tls {
		x.say("502 5.5.1 not now")
		return nil
	}
	ok, err := x.step(queue.PhaseTLS, "", "220 2.0.0 go ahead")
	if err != nil || !ok {
		return err
	}
	if err := x.out.Flush(); err != nil {
		return err
	}
	return x.handshake()
}

func (x *sinkSession) mail(arg []byte) error {
	x.message++
	path, params := split(arg)
	usual := "250 2.1.0 ok"
	size := -1
	for p := range strings.FieldsSeq(params) {
		name, value, _ := strings.Cut(strings.ToUpper(p), "=")
		switch {
		case name == "SIZE":
			size, _ = strconv.Atoi(value)
		case name == "BODY" && !x.c.NoEightBit, name == "SMTPUTF8" && !x.c.NoUTF8, name == "XVERP" && x.c.XVERP:
		default:
			x.violation(x.n, "MAIL parameter %s was not announced", p)
			usual = "555 5.5.4 unknown parameter"
		}
	}
	switch {
	case x.open:
		x.violation(x.n, "MAIL within a transaction")
		usual = "503 5.5.1 nested MAIL"
	case x.c.Users != nil && x.user == "":
		usual = "530 5.7.0 authentication required"
	case x.c.Size > 0 && size > x.c.Size:
		usual = "552 5.3.4 too big"
	}
	x.check(path, params)
	ok, err := x.step(queue.PhaseMail, path, usual)
	x.open, x.sender, x.params = ok, path, params
	return err
}

// check looks for what needs SMTPUTF8.
func (x *sinkSession) check(path, params string) {
	for _, c := range []byte(path) {
		if c >= 0x80 && !strings.Contains(params, "SMTPUTF8") {
			x.violation(x.n, "address %q without SMTPUTF8", path)
			return
		}
	}
}

func (x *sinkSession) rcpt(arg []byte) error {
	path, _ := split(arg)
	usual := "250 2.1.5 ok"
	switch {
	case !x.open:
		usual = "503 5.5.1 MAIL first"
	case x.c.MaxRecipients > 0 && x.accepted >= x.c.MaxRecipients:
		usual = "452 4.5.3 too many recipients"
	}
	x.check(path, x.params)
	ok, err := x.step(queue.PhaseRcpt, path, usual)
	if !ok {
		x.refused.Add(1)
		return err
	}
	x.accepted++
	if x.c.Keep != KeepCounts {
		x.rcpts = append(x.rcpts, path)
	}
	return err
}

// split takes "FROM:<path> PARAMS" apart.
func split(arg []byte) (path, params string) {
	i, j := bytes.IndexByte(arg, '<'), bytes.LastIndexByte(arg, '>')
	if i < 0 || j < i {
		return "", ""
	}
	return string(arg[i+1 : j]), string(bytes.TrimSpace(arg[j+1:]))
}

// auth is RFC 4954, PLAIN and LOGIN.
func (x *sinkSession) auth(arg string) error {
	mech, initial, _ := strings.Cut(arg, " ")
	var user, pass string
	var err error
	switch {
	case mech == "PLAIN" && !x.c.LoginOnly:
		if initial == "" {
			initial, err = x.prompt("")
		}
		parts := strings.Split(decode(initial), "\x00")
		if len(parts) == 3 {
			user, pass = parts[1], parts[2]
		}
	case mech == "LOGIN":
		if user, err = x.prompt("Username:"); err == nil {
			pass, err = x.prompt("Password:")
		}
		user, pass = decode(user), decode(pass)
	default:
		x.violation(x.n, "AUTH %s was not announced", mech)
	}
	if err != nil {
		return err
	}
	usual := "535 5.7.8 wrong name or password"
	if want, ok := x.c.Users[user]; ok && want == pass {
		usual = "235 2.7.0 welcome"
	}
	ok, err := x.step(queue.PhaseAuth, user, usual)
	if ok {
		x.user = user
	}
	return err
}

func (x *sinkSession) prompt(text string) (string, error) {
	x.say(fmt.Sprintf("334 %s", base64.StdEncoding.EncodeToString([]byte(text))))
	line, err := x.line()
	return string(line), err
}

func decode(s string) string {
	b, _ := base64.StdEncoding.DecodeString(s) // nonsense is nobody's password
	return string(b)
}
