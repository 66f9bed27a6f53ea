package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// dragonfly reads the DragonFly Mail Agent: "There was an error delivering your mail to
// <address>.", then what the server did not like.
func dragonfly(m *mail) []Result {
	i := m.after("error delivering your mail to")
	if i < 0 {
		return nil
	}
	a, ok := m.addressIn(m.notice[i-1])
	if !ok {
		return nil
	}
	end := len(m.notice)
	for k := i; k < end; k++ {
		if strings.HasPrefix(m.low[k], "message headers follow") || strings.HasPrefix(m.low[k], "original message follows") {
			end = k
		}
	}
	text := strings.Join(m.notice[i:end], "\n")
	return []Result{m.verdict(a, evidence{text: text}, "")}
}

// openSMTPD reads "address: what" below "the following list of recipients:".
func openSMTPD(m *mail) []Result {
	if !m.has("this is the mailer-daemon, please do not reply") {
		return nil
	}
	i := m.after("list of recipients:", "following list of recipients")
	if i < 0 {
		return nil
	}
	return m.results(m.blocks(i, 1), "")
}

// domino reads Lotus/HCL Domino: "was not delivered to:", the address, "because:".
func domino(m *mail) []Result {
	i := m.after("was not delivered to:")
	if i < 0 {
		return nil
	}
	return m.results(m.blocks(i, 0), strings.Join(m.notice, "\n"))
}

// notes reads the Lotus Notes SMTP gateway: what went wrong above the address.
func notes(m *mail) []Result {
	i := m.after("failure reasons")
	if i < 0 {
		return nil
	}
	var out []Result
	text := ""
	for _, l := range m.notice[i:] {
		if a, _, ok := leadAddress(l); ok {
			if !m.addressed(a) {
				out = append(out, m.verdict(a, evidence{text: strings.TrimSpace(text)}, ""))
			}
			text = ""
			continue
		}
		text += l + "\n"
	}
	return out
}

// iMail reads Ipswitch IMail and SMTP32: "what: address" lines, the dialogue below.
func iMail(m *mail) []Result {
	if !strings.Contains(m.subject, "undeliverable mail") && !strings.Contains(strings.ToLower(m.head.Get("X-Mailer")), "smtp32") {
		return nil
	}
	var out []Result
	for i, l := range m.low {
		what, _, ok := strings.Cut(l, ": ")
		k := len(what) + 2
		if !ok {
			for _, p := range []string{"undeliverable to ", "undeliverable  to "} {
				if at := strings.Index(l, p); at >= 0 {
					what, k, ok = l[at:], at+len(p), true
				}
			}
		}
		if !ok || k > len(m.notice[i]) || !failure(what) && !strings.HasPrefix(what, "undeliverable") && !strings.HasPrefix(what, "delivery failed") {
			continue
		}
		a, _, ok := leadAddress(m.notice[i][k:])
		if !ok || m.addressed(a) {
			continue
		}
		end := i + 1
		for end < len(m.low) && end < i+8 && !strings.Contains(m.low[end], ": "+a.Key()) && !strings.HasPrefix(m.low[end], "unknown user") {
			end++
		}
		text := strings.Join(m.notice[i:end], "\n")
		r := m.verdict(a, evidence{text: text}, "")
		if r.Reason == OnHold {
			r = m.verdict(a, evidence{text: what}, "")
		}
		out = append(out, r)
	}
	return out
}

// mFilter reads m-FILTER of Digital Arts: the address, the server's message, the command.
func mFilter(m *mail) []Result {
	i := m.after("m-filter")
	if i < 0 {
		return nil
	}
	var a mailaddr.Address
	for _, l := range m.notice[i:] {
		if x, _, ok := leadAddress(l); ok && !m.addressed(x) {
			a = x
			break
		}
	}
	if a.Null() {
		return nil
	}
	e := evidence{text: m.section("server message"), stage: commandStage(strings.ToLower(strings.TrimSpace(m.section("smtp command"))))}
	return []Result{m.verdict(a, e, "")}
}

// section is the text below the line "---name" up to the next line of dashes.
func (m *mail) section(name string) string {
	i := m.after("-" + name)
	if i < 0 {
		return ""
	}
	end := i
	for end < len(m.notice) && !strings.HasPrefix(m.notice[end], "---") {
		end++
	}
	return strings.Join(m.notice[i:end], "\n")
}

// mailMarshal reads MailMarshal: what went wrong, then "recipients were affected:".
func mailMarshal(m *mail) []Result {
	i := m.after("following recipients were affected")
	why := m.after("could not be delivered because of")
	if i < 0 || why < 0 || why > i {
		return nil
	}
	bs := m.blocks(i, 0)
	for k := range bs {
		bs[k].text = strings.Join(m.notice[why:i-1], "\n")
	}
	return m.results(bs, "")
}

// mailEnable reads "Recipient: [SMTP:address]" and "Reason: ...".
func mailEnable(m *mail) []Result {
	if !m.has("recipient: [smtp:") {
		return nil
	}
	var out []Result
	for i, l := range m.low {
		k := strings.Index(l, "recipient: [smtp:")
		if k < 0 {
			continue
		}
		if a, _, ok := leadAddress(m.notice[i][k+len("recipient: "):]); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: strings.Join(m.notice[i+1:min(len(m.notice), i+3)], "\n")}, ""))
		}
	}
	return out
}

// zoho reads "address Invalid Address, ERROR_CODE :550, ERROR_CODE :5.2.1 what".
func zoho(m *mail) []Result {
	if !m.has("error_code :") {
		return nil
	}
	var out []Result
	for i, l := range m.notice {
		if !strings.Contains(m.low[i], "error_code :") {
			continue
		}
		if a, rest, ok := leadAddress(l); ok && !m.addressed(a) {
			if _, said, ok := strings.Cut(rest, "ERROR_CODE :"); ok {
				rest = strings.ReplaceAll(strings.ReplaceAll(said, "ERROR_CODE :", ""), ",", " ")
			}
			out = append(out, m.verdict(a, evidence{text: rest}, ""))
		}
	}
	return out
}

// x6 reads "SMTP Server <host> rejected recipient <address> (Error following RCPT
// command). It responded as follows: [550 ...]".
func x6(m *mail) []Result {
	var out []Result
	for i, l := range m.low {
		k := strings.Index(l, "rejected recipient <")
		if k < 0 {
			continue
		}
		if a, rest, ok := leadAddress(m.notice[i][k+len("rejected recipient "):]); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: rest}, ""))
		}
	}
	return out
}

// interScan reads InterScan: "Sent <<< RCPT TO:<address>" and "Received >>> 550 ...".
func interScan(m *mail) []Result {
	var out []Result
	var last mailaddr.Address
	for i, l := range m.low {
		switch {
		case strings.Contains(l, "sent <<< rcpt to:"):
			_, addr, _ := strings.Cut(l, "rcpt to:")
			last, _, _ = leadAddress(addr)
		case strings.Contains(l, "received >>> ") && !last.Null():
			_, said, _ := strings.Cut(m.notice[i], ">>> ")
			if code, _ := codes(said); code >= 400 && !m.addressed(last) {
				out = append(out, m.verdict(last, evidence{text: said, stage: stageRcpt}, ""))
				last = ""
			}
		case strings.Contains(l, "unable to deliver message to <"):
			_, addr, _ := strings.Cut(l, "message to ")
			if a, _, ok := leadAddress(addr); ok && !m.addressed(a) {
				r := m.verdict(a, evidence{text: m.notice[i]}, "")
				if r.Reason == OnHold && strings.Contains(l, "check if address is correct") {
					r.Reason, r.Class = UserUnknown, Hard
				}
				out = append(out, r)
			}
		}
	}
	return out
}
