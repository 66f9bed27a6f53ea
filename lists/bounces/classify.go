package bounces

import "strings"

// evidence is what is known about one refusal.
type evidence struct {
	text   string // what the mail systems said, as written
	status string // enhanced status code of the report; one in the text goes before it
	reply  int
	stage  stage
	// named: the text named the recipient that it refused.
	named bool
}

// ClassifyReply judges a reply of an SMTP server to RCPT, or to what comes behind it.
// code is the reply code, enhanced the enhanced status code ("" if there is none; one
// in the text is found), text the reply's lines without the codes in front, joined by
// blanks or line feeds. A code of class 4 is never Hard. For a class other than 4 and
// 5 the answer is None, Delivered.
func ClassifyReply(code int, enhanced, text string) (Class, Reason) {
	if code >= 200 && code < 300 {
		return None, Delivered
	}
	e := evidence{text: text, status: enhanced, reply: code, stage: stageRcpt}
	if s := stageOf(strings.ToLower(text)); s != stageUnknown {
		e.stage = s
	}
	_, status := codes(text)
	if specific(status) {
		e.status = status
	}
	r := classify(e)
	if r == Undefined && code == 552 {
		r = ExceedLimit
		if strings.HasPrefix(enhanced, "5.2.") || e.status == "" { // RFC 5321 §4.2.2: storage allocation
			r = MailboxFull
		}
	}
	c := byte('5')
	if code/100 == 4 || code/100 != 5 && strings.HasPrefix(enhanced, "4") {
		c = '4'
	}
	return class(r, c, true), r
}

// classify finds the reason. What the text says goes before what the code says, since
// servers are more careful with words than with numbers.
func classify(e evidence) Reason {
	low := squeeze(e.text)
	r, sure := byCode(low)
	if r == "" {
		r, sure = byText(low)
	}
	switch {
	case sure:
		return r
	case r == UserUnknown:
		return userUnknown(e)
	case r == HostUnknown && e.stage == stageMail:
		return Rejected
	case r == Suspend && detail(e.status) == "1.1" && strings.Contains(low, "inactive"):
		return UserUnknown
	case r == "" && strings.Contains(low, "access denied") && !policyStatus(e.status):
		return accessDenied(e)
	case r != "":
		return r
	}
	if r := byStatus(e.status); r != "" {
		if r == UserUnknown && e.stage == stageMail {
			return Rejected
		}
		return r
	}
	return byStage(e, low)
}

// userUnknown doubts what a server says: a mailbox that RCPT was accepted for and
// that is unknown afterwards exists in front and not behind: a forwarding, or a filter
// that pretends. A report that gives a code and does not say when it came counts as
// afterwards, unless it names the recipient like a reply to RCPT.
func userUnknown(e evidence) Reason {
	switch {
	case e.stage == stageMail || e.stage == stageConnect:
		return Rejected
	case e.stage == stageRcpt, detail(e.status) == "1.1", strings.HasPrefix(detail(e.status), "1.351"):
		return UserUnknown
	case e.stage == stageUnknown && (e.reply == 0 || e.named):
		return UserUnknown
	}
	return Filtered
}

// policyStatus reports a status that says which policy it was.
func policyStatus(status string) bool {
	return strings.HasPrefix(detail(status), "7.") && byStatus(status) != SecurityErr
}

func accessDenied(e evidence) Reason {
	if e.stage == stageRcpt && detail(e.status) != "7.1" {
		return UserUnknown
	}
	if e.stage == stageConnect {
		return Blocked
	}
	return Rejected
}

// byText finds the first row of the table that the text has a phrase of.
func byText(low string) (r Reason, sure bool) {
	if low == "" {
		return "", false
	}
	h := newHaystack(low)
	for _, row := range phrases {
		if h.any(row.text) {
			return row.reason, row.sure
		}
	}
	return "", false
}

// byCode reads the codes that Facebook puts in front of its replies ("RCP-P2"), and Orange
// and La Poste behind theirs: "OFR_416", "LPN007_416", "OFR006_102".
func byCode(low string) (r Reason, sure bool) {
	if strings.Contains(low, "-p") || strings.Contains(low, "-t") {
		for w := range strings.FieldsSeq(low) {
			if w = strings.Trim(w, "()[]:,"); len(w) == 6 && w[3] == '-' {
				if r, ok := facebookCodes[w]; ok {
					return r, true
				}
			}
		}
	}
	for _, p := range []string{"ofr", "lpn"} {
		for rest := low; ; {
			_, after, ok := strings.Cut(rest, p)
			if !ok {
				break
			}
			rest = after
			between, code, ok := strings.Cut(rest, "_")
			if ok && len(code) >= 3 && strings.Trim(between, "0123456789") == "" {
				if r, ok := frenchCodes[code[:3]]; ok {
					return r, true
				}
			}
		}
	}
	return "", false
}

// byStatus is the reason of an enhanced status code, "" if it says none.
func byStatus(status string) Reason {
	if !specific(status) {
		return ""
	}
	d := detail(status)
	if r, ok := statuses[d]; ok {
		return r
	}
	subject, n, _ := strings.Cut(d, ".")
	if subject == "7" && len(n) == 3 { // Microsoft's: banned addresses, then whole networks and tenants
		switch {
		case n >= "606" && n <= "649":
			return Blocked
		case n >= "700" && n <= "749":
			return BadReputation
		}
	}
	return subjects[subject]
}

// byStage guesses from where the session ended.
func byStage(e evidence, low string) Reason {
	switch {
	case e.reply == 0 && e.status == "" && low == "":
		return Undefined
	case e.reply == 421 && e.stage == stageUnknown:
		return Expired
	case e.stage == stageConnect && e.reply != 0:
		return Blocked
	case e.stage == stageMail && e.reply != 0:
		return Rejected
	case e.reply == 552:
		return MailboxFull
	case e.stage == stageRcpt && (e.reply == 550 || e.reply == 553 || e.reply == 551):
		return OnHold
	case e.stage == stageData && e.reply >= 500:
		return Filtered
	case low == "":
		return Undefined
	}
	return OnHold
}

// squeeze prepares a text for the table: lower case, single blanks, codes inside it
// dropped, addresses as a bare "@".
func squeeze(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	s = strings.ToLower(s)
	var b strings.Builder
	b.Grow(len(s))
	for w := range strings.FieldsSeq(s) {
		if codeWord(w) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if i := strings.IndexByte(w, '@'); i > 0 && i < len(w)-1 && !strings.Contains(w, "://") {
			b.WriteByte('@')
			if j := strings.LastIndexAny(w, ">)]:,;'\""); j > i && j < len(w) {
				b.WriteString(strings.TrimLeft(w[j:], ">)]'\""))
			}
			continue
		}
		b.WriteString(w)
	}
	return strings.ReplaceAll(b.String(), "’", "'")
}

// codeWord: "550", "550-5.7.1", "5.7.1", "550-".
func codeWord(w string) bool {
	w = strings.TrimRight(w, "-:")
	if len(w) >= 3 && (w[0] == '4' || w[0] == '5') && replyAt(w) {
		w = strings.TrimLeft(w[3:], "-")
	}
	return w == "" || len(w) >= 5 && w[0] >= '2' && w[0] <= '5' && statusAt(w) == w
}
