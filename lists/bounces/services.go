package bounces

import (
	"encoding/json"
	"strings"

	"qrunner/lists/mailaddr"
)

// amazonJSON reads notifications of Amazon SES by mail: a JSON object, plain or inside
// one of SNS.
func amazonJSON(m *mail) []Result {
	if !m.has(`notificationtype`) {
		return nil
	}
	text := strings.NewReplacer("!\n ", "", "\n ", "").Replace(strings.Join(m.notice, "\n"))
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return nil
	}
	var outer struct{ Message string }
	var n amazonNotice
	if json.NewDecoder(strings.NewReader(text[i:])).Decode(&outer) == nil && outer.Message != "" {
		text, i = outer.Message, 0
	}
	if json.NewDecoder(strings.NewReader(text[i:])).Decode(&n) != nil {
		return nil
	}
	var out []Result
	for _, b := range n.Bounce.Recipients {
		if a, ok := parseAddress(b.Address); ok {
			out = append(out, m.verdict(a, evidence{text: diagnostic(b.Diagnostic), status: b.Status}, n.Bounce.Type+" "+n.Bounce.SubType))
		}
	}
	for _, s := range n.Delivery.Recipients {
		if a, ok := parseAddress(s); ok {
			out = append(out, Result{Address: a, Class: None, Reason: Delivered, Diagnostic: n.Delivery.Response})
		}
	}
	for _, c := range n.Complaint.Recipients {
		if a, ok := parseAddress(c.Address); ok {
			out = append(out, Result{Address: a, Class: Complained, Reason: Feedback, Diagnostic: "abuse"})
		}
	}
	return out
}

// amazonNotice is what we read of a notification.
type amazonNotice struct {
	Bounce struct {
		Type       string `json:"bounceType"`
		SubType    string `json:"bounceSubType"`
		Recipients []struct {
			Address    string `json:"emailAddress"`
			Status     string `json:"status"`
			Diagnostic string `json:"diagnosticCode"`
		} `json:"bouncedRecipients"`
	} `json:"bounce"`
	Delivery struct {
		Recipients []string `json:"recipients"`
		Response   string   `json:"smtpResponse"`
	} `json:"delivery"`
	Complaint struct {
		Recipients []struct {
			Address string `json:"emailAddress"`
		} `json:"complainedRecipients"`
	} `json:"complaint"`
}

// sieve reads reject of Sieve (RFC 5429) sent as a disposition notification: "Your
// message to <address> was automatically rejected:".
func sieve(m *mail) []Result {
	if len(m.mdn) == 0 || !m.has("was automatically rejected") {
		return nil
	}
	text := strings.Join(m.notice, "\n")
	for _, part := range m.mdn {
		for _, g := range readGroups(part) {
			if a, ok := m.reportedAddress(g); ok {
				return []Result{m.verdict(a, evidence{text: text}, "")}
			}
		}
	}
	return nil
}

// netscape reads Netscape Messaging Server and Post.Office, which say why above the list
// and repeat the heading for each recipient.
func netscape(m *mail) []Result {
	if !m.has("was undeliverable due to the following reason", "did not receive your message:", "did not receive this message:") {
		return nil
	}
	var out []Result
	common := strings.Join(m.notice, "\n")
	for i, l := range m.low {
		if i+1 < len(m.low) && (strings.Contains(l, "did not receive your message:") || strings.Contains(l, "did not receive this message:")) {
			for _, b := range m.blocks(i+1, 0) {
				out = append(out, m.verdict(b.addr, evidence{}, common))
			}
		}
	}
	return out
}

// aol reads AOL's notices that name mailboxes without their domain.
func aol(m *mail) []Result {
	if !m.fromDomain("aol.com") {
		return nil
	}
	i := m.after("following recipients could not be delivered", "not accepting mail from", "could not be delivered because")
	if i < 0 {
		return nil
	}
	var out []Result
	for _, l := range m.notice[i:] {
		name := strings.TrimSpace(l)
		if name == "" || strings.ContainsAny(name, " \t") || name[len(name)-1] == ':' {
			continue
		}
		if !strings.Contains(name, "@") {
			name += "@" + m.from.Domain()
		}
		if a, ok := parseAddress(name); ok && !m.addressed(a) {
			out = append(out, m.verdict(a, evidence{text: strings.Join(m.notice[:i], "\n")}, ""))
		}
	}
	return out
}

// yale reads phquery of Yale: a local name; the text advises a second domain for it.
func yale(m *mail) []Result {
	i := m.after("message not delivered to the following")
	if i < 0 || !m.has("phquery") {
		return nil
	}
	var out []Result
	for _, l := range m.notice[i:] {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		if strings.HasPrefix(f[0], "-") {
			break
		}
		for _, d := range yaleDomains(m.from) {
			if a, ok := parseAddress(f[0] + "@" + d); ok {
				out = append(out, m.verdict(a, evidence{text: l}, ""))
			}
		}
	}
	return out
}

// yaleDomains: the site's domain, and the one of its department that it mentions.
func yaleDomains(from mailaddr.Address) []string {
	labels := strings.Split(from.Domain(), ".")
	if len(labels) < 2 {
		return nil
	}
	site := strings.Join(labels[len(labels)-2:], ".")
	return []string{site, "cs." + site}
}

// carriers reads Japanese mobile carriers (au, EZweb, KDDI).
func carriers(m *mail) []Result {
	if !m.fromDomain("ezweb.ne.jp", "au.com", "dion.ne.jp") {
		return nil
	}
	common := strings.Join(m.notice, "\n")
	seen := map[string]bool{}
	var out []Result
	for i, l := range m.notice {
		a, _, ok := bracketed(l)
		for _, p := range []string{"recipient: ", "could not be delivered to: "} {
			if _, rest, found := cutFold(l, p); found {
				a, _, ok = leadAddress(rest)
			}
		}
		if !ok || m.addressed(a) || seen[a.Key()] {
			continue
		}
		seen[a.Key()] = true
		st, said := m.transcript(a, "")
		if said == "" {
			said = strings.Join(m.notice[i:], "\n")
		}
		out = append(out, m.verdict(a, evidence{text: said, stage: st}, common))
	}
	return out
}

// verizon reads Verizon's gateway to phones: the recipient stands in a "To:" of its own.
func verizon(m *mail) []Result {
	if !m.has("could not be delivered to mobile") {
		return nil
	}
	common := strings.Join(m.notice, "\n")
	if m.original != nil {
		for _, a := range m.original.Addresses("RCPT TO", "To", "RCPT-TO") {
			if !m.addressed(a) {
				return []Result{m.verdict(a, evidence{text: common}, "")}
			}
		}
	}
	return nil
}

// james reads Apache James: the error, the reply, then "RCPT TO: address".
func james(m *mail) []Result {
	i := m.after("error message below:")
	if i < 0 || !m.has("rcpt to:") {
		return nil
	}
	var out []Result
	for k, l := range m.low {
		if at := strings.Index(l, "rcpt to:"); at >= 0 {
			if a, ok := m.addressIn(m.notice[k][at+len("rcpt to:"):]); ok {
				out = append(out, m.verdict(a, evidence{text: strings.Join(m.notice[i:min(i+2, len(m.notice))], "\n")}, ""))
			}
		}
	}
	return out
}

// fml reads the list manager fml: we are no member there, or it saw the message before.
func fml(m *mail) []Result {
	for i, l := range m.low {
		if strings.Contains(l, "not a member of this mailing list <") || strings.Contains(l, "duplicated message-id in <") {
			if a, _, ok := leadAddress(l[strings.IndexByte(l, '<'):]); ok {
				return []Result{m.verdict(a, evidence{text: m.notice[i]}, "")}
			}
		}
	}
	return nil
}
