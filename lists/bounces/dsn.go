package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// rfc3464 reads delivery reports of all servers that write them (RFC 3464, 6533).
// Actions other than failed say that nothing failed, or not yet.
func rfc3464(m *mail) []Result {
	var out []Result
	for _, part := range m.status {
		out = append(out, m.groups(readGroups(part))...)
	}
	m.alone(out)
	return out
}

// rfc3464Text reads reports whose fields stand in the text for people, because the
// part's type or boundary got lost or was never there.
func rfc3464Text(m *mail) []Result {
	if len(m.status) > 0 || !m.whole.has("final-recipient:") && !m.whole.has("original-recipient:") {
		return nil
	}
	start := 0
	for i, l := range m.low {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "reporting-mta:") || strings.HasPrefix(l, "final-recipient:") || strings.HasPrefix(l, "original-recipient:") ||
			strings.HasPrefix(l, "action:") {
			start = i
			break
		}
	}
	fields := make([]string, 0, len(m.notice)-start)
	for _, l := range m.notice[start:] {
		if !strings.HasPrefix(l, "--") { // a boundary that nobody promised
			fields = append(fields, l)
		}
	}
	out := m.groups(readGroups(strings.Join(fields, "\n")))
	m.alone(out)
	return out
}

// groups judges the groups that are about recipients.
func (m *mail) groups(in []group) []Result {
	var out []Result
	for _, g := range in {
		if r, ok := m.reported(g); ok && len(out) < maxBlocks {
			out = append(out, r)
		}
	}
	return out
}

// reported reads one recipient's group.
func (m *mail) reported(g group) (Result, bool) {
	a, ok := m.reportedAddress(g)
	if !ok {
		return Result{}, false
	}
	action, remark := firstWord(g.get("action"))
	status := g.get("status")
	code := ""
	if _, code = codes(status); code != "" {
		_, status, _ = strings.Cut(status, code)
	}
	e := evidence{status: code}
	e.text = diagnostic(g.get("diagnostic-code"))
	about := m.about(a)
	e.stage, e.text = m.session(a, e.text, about)
	if e.text == "" && failure(remark) {
		e.text = strings.Trim(remark, "() ")
	} else if e.text == "" {
		e.text = strings.Trim(strings.TrimSpace(remark+" "+status), "() ")
	} else if r, _ := byText(squeeze(status)); r == Suspend { // the reporter knows better than the remote text
		e.text = strings.Trim(status, "() ") + " " + e.text
	}
	r := m.verdict(a, e, about)
	if r.Status == "" {
		r.Status = code
	}
	if c, ok := categories[strings.ToLower(g.get("x-powermta-bouncecategory"))]; ok && (r.Reason == Undefined || r.Reason == OnHold) {
		r.Reason = c
	}
	return m.acted(r, action, e), true
}

// categories are those that PowerMTA adds to its reports.
var categories = map[string]Reason{
	"bad-domain": HostUnknown, "bad-mailbox": UserUnknown, "inactive-mailbox": Suspend, "message-expired": Expired, "no-answer-from-host": NetworkErr,
	"policy-related": PolicyViolation, "quota-issues": MailboxFull, "routing-errors": SystemErr, "spam-related": SpamDetected,
	"content-related": ContentErr, "relaying-issues": NoRelaying, "virus-related": VirusDetected, "invalid-sender": Rejected,
}

// acted applies the report's action to a verdict.
func (m *mail) acted(r Result, action string, e evidence) Result {
	r.Action = action
	switch {
	case action == "delivered" || action == "relayed" || action == "expanded" || action == "" && strings.HasPrefix(r.Status, "2"):
		r.Reason, r.Class, r.Permanent = Delivered, None, false
		return r
	case action == "delayed":
		r.Permanent = false
	case action == "":
		r.Permanent = !m.delayed()
	default:
		r.Permanent = true
	}
	e.status, e.reply = r.Status, r.Reply
	if !r.Permanent && !failure(e.text) && (r.Reason == Undefined || strings.HasPrefix(detail(r.Status), "4.")) {
		r.Reason = Expired
	}
	r.Class = class(r.Reason, statusClass(e), r.Permanent)
	return r
}

// alone gives what only the text for people says to the report's only recipient.
func (m *mail) alone(out []Result) {
	if len(out) != 1 || out[0].Class == None || out[0].Reason != Undefined && out[0].Reason != OnHold {
		return
	}
	r := &out[0]
	text := m.textFrom(0)
	v := m.verdict(r.Address, evidence{text: text, status: r.Status, reply: r.Reply}, "")
	if v.Reason != OnHold && v.Reason != Undefined {
		r.Reason = v.Reason
		r.Class = class(r.Reason, statusClass(evidence{status: r.Status, reply: r.Reply}), r.Permanent)
		if r.Diagnostic == "" {
			r.Diagnostic = text
		}
	}
}

// reportedAddress takes the original recipient, which is the one that we sent to, else
// the final one, else what the header or the text says of it.
func (m *mail) reportedAddress(g group) (mailaddr.Address, bool) {
	final, okFinal := typedAddress(g.get("final-recipient"))
	if v := g.get("original-recipient"); v != "" {
		if a, ok := typedAddress(unXtext(v)); ok {
			return a, true
		}
	}
	if okFinal {
		return final, true
	}
	if a, ok := typedAddress(g.get("x-actual-recipient")); ok {
		return a, true
	}
	if failed := m.head.Addresses("X-Failed-Recipients"); len(failed) == 1 && g.recipient() {
		return failed[0], true
	}
	return "", false
}

// typedAddress reads "rfc822; address" or "utf-8; address" (RFC 6533 §3).
func typedAddress(v string) (mailaddr.Address, bool) {
	kind, addr, ok := strings.Cut(v, ";")
	if !ok || strings.ContainsAny(kind, "@<") {
		kind, addr = "", v
	}
	addr = strings.TrimSpace(oneLine(addr))
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "x-unix", "unknown":
		return "", false
	case "utf-8":
		addr = unescapeUTF8(addr)
	}
	if _, inner, ok := strings.Cut(addr, ";"); ok && strings.HasPrefix(strings.ToLower(addr), "rfc822") {
		addr = inner
	}
	if i := strings.Index(addr, " ("); i > 0 { // a comment
		addr = addr[:i]
	}
	if strings.HasPrefix(addr, "|") || strings.HasPrefix(addr, "/") {
		return "", false
	}
	return parseAddress(addr)
}

func firstWord(s string) (word, rest string) {
	s = strings.ToLower(strings.TrimSpace(s))
	i := strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i:]
}

// diagnostic is a Diagnostic-Code without its type.
func diagnostic(v string) string {
	kind, text, ok := strings.Cut(v, ";")
	if ok && !strings.ContainsAny(strings.TrimSpace(kind), " \t<") {
		if strings.EqualFold(strings.TrimSpace(kind), "x-unix") {
			return "x-unix; " + strings.TrimSpace(text)
		}
		return strings.TrimSpace(text)
	}
	return v
}

// namedReply reports whether a reply names the refused address right behind its code,
// as servers do that refuse at RCPT.
func namedReply(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) < 5 || !replyAt(text) {
		return false
	}
	_, status := codes(text)
	rest := strings.TrimLeft(text[3:], ": ")
	return status == "" && strings.HasPrefix(rest, "<") && strings.Contains(rest, ">:")
}
