package bounces

import (
	"strings"

	"qrunner/lists/mailaddr"
)

// daemon reports whether a mail system seems to have written the message: by its
// sender's name, the lack of one, or a subject that people do not write.
func (m *mail) daemon() bool {
	from := m.head.Get("From")
	if m.from.Null() && strings.IndexByte(from, '@') < 0 {
		if from == "" || strings.Contains(from, "<>") || daemonName(strings.Trim(strings.ToLower(from), " <>")) {
			return true
		}
	}
	if daemonName(strings.ToLower(m.from.Local())) || strings.Contains(strings.ToLower(from), "<mailer-daemon>") {
		return true
	}
	s := m.subject
	if strings.HasPrefix(s, "re:") || strings.HasPrefix(s, "aw:") || strings.HasPrefix(s, "fw") {
		return false
	}
	return m.title.any(daemonSubjects)
}

// daemonName recognises the names that mail systems send reports by.
func daemonName(local string) bool {
	local = strings.Map(func(r rune) rune {
		switch r {
		case '_', '.':
			return '-'
		case '"':
			return -1
		}
		return r
	}, local)
	for _, n := range []string{"mailer-daemon", "postmaster", "poostmaster", "post-master", "mdaemon", "mail-daemon", "maildaemon", "mail-delivery",
		"mailerdaemon", "system administrator", "smtp-mail-service", "microsoftexchange", "ndr", "mailadm", "non-delivery"} {
		if strings.HasPrefix(local, n) || strings.HasSuffix(local, n) {
			return true
		}
	}
	return false
}

// daemonSubjects are parts of subjects of reports, in lower case.
var daemonSubjects = []string{
	"undeliver", "returned mail", "delivery failure", "delivery status notification", "delivery notification",
	"mail delivery fail", "mail delivery problem", "mail system error", "failure notice", "failed delivery",
	"failure delivery", "could not be delivered", "couldn't be delivered", "delivery has failed", "message delivery",
	"non-delivery", "non delivery", "nondeliverable", "mail not delivered", "delivery report",
	"mail failed, returning", "not deliverable", "there was an error sending your mail", "returned to sender",
	"message status - undeliverable", "delivery error", "delivery problem", "mail error", "unzustellbar",
	"nicht zustellbar", "unzustellbarkeit", "non remis", "échec de la remise", "échec de remise",
	"message non distribué", "non recapitabile", "mancato recapito", "no se puede entregar", "no entregado",
	"não é possível entregar", "não entregue", "niet bestelbaar", "onbestelbaar", "nie można dostarczyć",
	"niedostarcz", "недоставлен", "не доставлен", "невозможно доставить", "не может быть доставлено", "配信不能", "配信できま",
	"送信できま", "エラー通知", "配達不能", "无法送达", "無法傳遞", "退信", "teslim edilemedi", "olevereret", "kan inte levereras",
	"olevererbart", "kan ikke leveres", "toimittaminen epäonnistui", "adres buiten gebruik", "doručiteln",
	"kézbesíthetetlen", "returning message to sender", "delivery subsystem", "could not send message", "mail delivery status", "ei voi toimittaa", "kunne ikke leveres",
	"undelivered", "message non remis", "impossible de remettre", "mensagem devolvida", "correo devuelto", "retourné à",
}

// verdict makes a result for a refused copy: e is judged, then, if it says nothing,
// context, which is what stands around it.
func (m *mail) verdict(a mailaddr.Address, e evidence, context string) Result {
	if e.stage == stageUnknown {
		e.stage = stageOf(flat(e.text))
	}
	if e.stage == stageUnknown {
		e.stage = quotedStage(e.text)
	}
	if e.stage == stageUnknown && m.fromDomain("messagelabs.com") { // which refuses at RCPT
		e.stage = stageRcpt
	}
	e.named = namedReply(e.text)
	reply, status := codes(e.text)
	if e.reply == 0 {
		e.reply = reply
	}
	if specific(status) || e.status == "" {
		e.status = status
	}
	r := classify(e)
	text := e.text
	if (r == Undefined || r == OnHold && e.reply == 0) && context != "" {
		c := evidence{text: context, status: e.status, reply: e.reply, stage: e.stage}
		if c.stage == stageUnknown {
			c.stage = stageOf(flat(context))
		}
		if r2 := classify(c); r2 != Undefined {
			r = r2
		}
		if text == "" {
			text = context
		}
	}
	if m.has("the user(s) account is disabled", "the user(s) account is temporarily limited") { // EZweb, whatever it quotes
		r = Suspend
	}
	permanent := !m.delayed()
	return Result{
		Address: a, Reason: r, Class: class(r, statusClass(e), permanent), Permanent: permanent,
		Status: e.status, Reply: e.reply, Diagnostic: text,
	}
}

// quotedStage is that of the last command in a dialogue that the text quotes.
func quotedStage(text string) stage {
	i := strings.LastIndex(text, ">>> ")
	if i < 0 || !strings.Contains(text[i:], "<<< ") {
		return stageUnknown
	}
	return commandStage(strings.ToLower(text[i+4 : min(len(text), i+16)]))
}

// statusClass is the class of the codes: '4', '5' or 0 if there are none.
func statusClass(e evidence) byte {
	switch {
	case e.reply >= 400:
		return byte('0' + e.reply/100)
	case e.status != "":
		return e.status[0]
	}
	return 0
}

// flat is s in lower case with single blanks.
func flat(s string) string { return oneLine(strings.ToLower(s[:min(len(s), maxText)])) }
