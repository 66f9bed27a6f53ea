package handlers

import (
	"context"
	"strings"
	"time"

	"qrunner/lists"
)

// received puts the trace field on top that RFC 5321 §4.4 asks of whoever takes a
// message by SMTP and sends it on. Mail from a pipe has no peer to name.
func received(_ context.Context, p *lists.Post) error {
	var b strings.Builder
	protocol, peer, _ := strings.Cut(p.Source, " ")
	switch peer {
	case "":
	case "unix": // a local socket
		b.WriteString("from localhost ")
	default:
		if strings.Contains(peer, ":") {
			peer = "IPv6:" + peer // RFC 5321 §4.1.3
		}
		b.WriteString("from [" + peer + "] ")
	}
	b.WriteString("by " + p.Host)
	switch protocol {
	case "lmtp", "smtp":
		b.WriteString(" with " + strings.ToUpper(protocol))
	}
	b.WriteString(" id " + p.Trace)
	if p.Target.List != lists.Site {
		b.WriteString(" for <" + string(p.Target.Address()) + ">")
	}
	p.Message.Prepend("Received", b.String()+"; "+p.Received.UTC().Format(time.RFC1123Z))
	return nil
}
