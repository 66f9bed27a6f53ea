package main

import (
	"cmp"
	"context"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/rogpeppe/go-internal/testscript"

	"qrunner/lists/message"
	"qrunner/queue/queuetest"
)

// scriptMail is a script's smarthost, and what of its mail the script has read.
type scriptMail struct {
	sink *queuetest.Sink
	read []int // of sink.Messages
}

func scriptSetup(env *testscript.Env) error {
	env.Setenv("GORACE", os.Getenv("GORACE"))
	env.Values["mail"] = &scriptMail{}
	return nil
}

func mailOf(ts *testscript.TestScript) *scriptMail { return ts.Value("mail").(*scriptMail) }

// scriptSink is "sink", before "site": it starts a smarthost that takes everything.
func scriptSink(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sink")
	}
	s, err := queuetest.NewSink(queuetest.SinkConfig{})
	ts.Check(err)
	addr, err := s.Listen(context.Background(), "")
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Setenv("SINK", addr)
	mailOf(ts).sink = s
}

// scriptLMTP is "lmtp FROM TO FILE [SOCKET]": it hands a file to the daemon as an MTA would;
// FROM may be <>. The daemon has to take it.
func scriptLMTP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: lmtp FROM TO FILE [SOCKET]")
	}
	socket := append(args, "lmtp")[3]
	handIn(ts, socket, strings.Trim(args[0], "<>"), args[1], ts.ReadFile(args[2]))
}

func handIn(ts *testscript.TestScript, socket, from, to, raw string) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", ts.MkAbs(socket))
	for ; err != nil && ctx.Err() == nil; <-again.C { // the daemon is starting
		conn, err = new(net.Dialer).DialContext(ctx, "unix", ts.MkAbs(socket))
	}
	ts.Check(err)
	c := smtp.NewClientLMTP(conn)
	defer c.Close()
	ts.Check(c.Mail(from, nil))
	ts.Check(c.Rcpt(to, nil))
	w, err := c.Data()
	ts.Check(err)
	_, err = w.Write([]byte(strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\n", "\r\n")))
	ts.Check(err)
	_, err = w.CloseWithLMTPResponse()
	ts.Check(err)
}

// scriptGets is "gets ADDRESS REGEXP FILE": it waits until a mail for the address that the
// script has not read yet matches, and writes it to the file. "! gets ADDRESS REGEXP": there
// is none now.
func scriptGets(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 && !(neg && len(args) == 2) {
		ts.Fatalf("usage: gets ADDRESS REGEXP FILE")
	}
	box := mailOf(ts)
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	for {
		seen := box.sink.Stats().Recipients
		for _, i := range box.find(ts, args[0], args[1]) {
			if slices.Contains(box.read, i) {
				continue
			}
			if neg {
				ts.Fatalf("%s got:\n%s", args[0], box.sink.Messages()[i].Raw)
			}
			box.read = append(box.read, i)
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), box.sink.Messages()[i].Raw, 0o600))
			return
		}
		if neg {
			return
		}
		if box.sink.Wait(ctx, seen+1) != nil {
			var all []string
			for _, m := range box.sink.Messages() {
				all = append(all, strings.Join(m.Recipients, " ")+": "+message.Parse(m.Raw).Get("Subject"))
			}
			ts.Fatalf("waited %v in vain for mail to %s that matches %s; there are\n%s", scriptPatience, args[0], args[1], strings.Join(all, "\n"))
		}
	}
}

// scriptGot is "got N ADDRESS REGEXP": so many mails for the address match, read or not.
func scriptGot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: got N ADDRESS REGEXP")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := len(mailOf(ts).find(ts, args[1], args[2])); got != want {
		ts.Fatalf("%s got %d mails that match %s, want %d", args[1], got, args[2], want)
	}
}

func (b *scriptMail) find(ts *testscript.TestScript, address, expr string) (out []int) {
	re, err := regexp.Compile("(?ms)" + expr)
	ts.Check(err)
	for i, m := range b.sink.Messages() {
		if slices.Contains(m.Recipients, address) && re.Match(m.Raw) {
			out = append(out, i)
		}
	}
	return out
}

// scriptAnswer is "answer [-as ADDRESS] FILE [TEXT [FIELD...]]": the reader of a mail answers
// it, as mail programs do, with a text above the quotation, and more header fields if
// wanted. ADDRESS is who reads it, if that is not who stands in To.
func scriptAnswer(ts *testscript.TestScript, neg bool, args []string) {
	as := ""
	if len(args) > 2 && args[0] == "-as" {
		as, args = args[1], args[2:]
	}
	if neg || len(args) == 0 {
		ts.Fatalf("usage: answer [-as ADDRESS] FILE [TEXT [FIELD...]]")
	}
	me, to, mail := answerTo(ts, as, args)
	handIn(ts, "lmtp", me, to, mail)
}

// scriptBoth is "both FILE": the reader of a mail answers it, and the answer comes to two
// daemons at once, by the sockets lmtp and lmtp2.
func scriptBoth(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: both FILE")
	}
	me, to, mail := answerTo(ts, "", args)
	var both sync.WaitGroup
	both.Go(func() { handIn(ts, "lmtp", me, to, mail) })
	handIn(ts, "lmtp2", me, to, mail)
	both.Wait()
}

// answerTo makes an answer: who answers, whom, and what.
func answerTo(ts *testscript.TestScript, as string, args []string) (me, to, mail string) {
	raw := ts.ReadFile(args[0])
	m := message.Parse([]byte(raw))
	me, to = cmp.Or(as, m.Get("To")), cmp.Or(m.Get("Reply-To"), m.Get("From"))
	text := strings.ReplaceAll(string(m.Body()), "\r\n", "\n")
	mail = strings.Join(append([]string{"From: " + me, "To: " + to, "Subject: Re: " + m.Get("Subject"), "In-Reply-To: " + m.Get("Message-ID"),
		"Message-ID: <" + strconv.FormatInt(time.Now().UnixNano(), 36) + "@answers.example>"}, args[min(2, len(args)):]...), "\n") +
		"\n\n" + append(args, "")[1] + "\n\nOn some day somebody wrote:\n> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n"
	return me, to, mail
}
