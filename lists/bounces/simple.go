package bounces

import "strings"

// listed reads mail systems that list failed recipients below a heading of theirs.
func listed(m *mail) []Result {
	for _, h := range headings {
		i := m.after(h)
		if i < 0 {
			continue
		}
		bs := m.blocks(i, 3)
		if len(bs) == 0 {
			continue
		}
		for k := len(bs) - 2; k >= 0; k-- { // the text stands below the last of them
			if strings.TrimSpace(bs[k].text) == "" {
				bs[k].text = bs[k+1].text
			}
		}
		return m.results(bs, m.textFrom(0))
	}
	return nil
}

// headings are the lines (in part, lower case) above lists of recipients.
var headings = []string{
	"following recipients did not receive", "following recipient(s) did not receive",
	"did not receive a copy of your message", "did not receive this message", "following recipients failed",
	"following recipients was aborted", "following recipients failed permanently", "delivery to the following",
	"following recipients were affected", "cannot be delivered to the following",
	"could not be delivered to the following", "unable to deliver message to the following",
	"unable to deliver your message to the following", "wasn't able to deliver your message to",
	"was not able to deliver your message to", "not able to deliver your message to", "failed recipients",
	"failed addresses follow", "could not deliver message to the following", "following recipient(s) could not",
	"the following list of recipients", "list of recipients", "your message to:",
	"have not yet received your message", "awaiting delivery", "to the following recipient",
	"addressed to email address", "to the following address", "following address:", "returned an error",
	"was not delivered to", "undeliverable to the following", "these recipients",
	"an error occurred while trying to deliver", "could not be sent to", "non è stato possibile consegnare",
	"konnte nicht zugestellt werden", "nicht zugestellt werden", "n'a pas pu être", "no pudo ser entregado",
	"no ha podido ser entregado", "не удалось доставить", "не может быть доставлено", "не было доставлено",
	"送信に失敗しました", "送信できませんでした", "配信できませんでした", "could not be delivered to", "unable to deliver", "delivery failed to",
	"did not reach", "undeliverable recipient", "seguenti destinatari", "seguintes destinat", "siguientes destinatarios",
	"destinataires suivants", "destinataire suivant", "folgende empfänger", "folgenden empfänger", "folgende adresse",
	"volgende geadresseerde", "volgende ontvanger", "volgende adres", "следующим получател", "следующим адрес", "следующих адрес",
	"następujących odbiorców", "następujących adres", "följande mottagare", "følgende modtagere", "disse modtagere", "følgende mottaker",
	"seuraaville vastaanottaj", "以下の宛先", "以下のアドレス", "以下收件人", "以下地址", "下列收件人", "下列地址", "aşağıdaki alıcı", "aşağıdaki adres",
	"következő címzett", "následujícím příjemc", "următorii destinatari",
}

// inline reads mail systems that name the recipient inside a sentence.
func inline(m *mail) []Result {
	var out []Result
	if !m.whole.any(sentences) {
		return leadingNotice(m)
	}
	for i, l := range m.low {
		for _, p := range sentences {
			k := strings.Index(l, p)
			if k < 0 || k+len(p) > len(m.notice[i]) {
				continue
			}
			line := m.notice[i][k+len(p):]
			if strings.TrimSpace(line) == "" && i+1 < len(m.notice) {
				line = m.notice[i+1]
			}
			a, _, ok := leadAddress(strings.TrimSpace(line))
			if !ok || m.addressed(a) {
				continue
			}
			text := m.notice[i] + "\n" + m.lines(i+1, i+8)
			out = append(out, m.verdict(a, evidence{text: text}, m.textFrom(0)))
			break
		}
	}
	if len(out) == 0 {
		out = leadingNotice(m)
	}
	return out
}

// spoken reads a sentence that has the recipient anywhere in it and says itself that it
// failed: "The address bart@example.org was not found." One such sentence only, and not
// one that tells whom to ask.
func spoken(m *mail) []Result {
	var out []Result
	for i, l := range m.low {
		if strings.Count(l, "@") != 1 || newHaystack(l).any(advice) || !failure(m.notice[i]) {
			continue
		}
		a, ok := m.addressIn(m.notice[i])
		if !ok || daemonName(strings.ToLower(a.Local())) || m.from.Key() == a.Key() {
			continue
		}
		out = append(out, m.verdict(a, evidence{text: m.notice[i]}, ""))
	}
	if len(out) != 1 {
		return nil
	}
	return out
}

// advice are words of sentences that name whom to ask, or who sent it.
var advice = []string{"contact", "mailto:", "http", "questions", "help", "support", "abuse@", "from:", "sender", "write to", "send a", "reply to"}

// leadingNotice reads "address - no such user here." at the top of a short text.
func leadingNotice(m *mail) []Result {
	for i := 0; i < len(m.notice) && i < 4; i++ {
		a, rest, ok := leadAddress(m.notice[i])
		if ok && !m.addressed(a) && failure(rest) {
			return []Result{m.verdict(a, evidence{text: m.textFrom(i)}, "")}
		}
	}
	return nil
}

// sentences are what stands right before the recipient's address, in lower case.
var sentences = []string{
	"could not be delivered to: ", "could not be delivered to ", "unable to deliver message to: ",
	"unable to deliver message to ", "unable to deliver your message to ", "unknown user: ", "undeliverable to ",
	"undeliverable  to ", "undeliverable address: ", "failed recipient: ", "intended recipient: ", "recipient: ",
	"addressed to: ", "error delivering your mail to ", "addressed to '", "originally addressed to ",
	"user's mailbox is full: ", "user mailbox exceeds allowed size: ", "invalid final delivery userid: ",
	"attempts: ", "did not reach the following recipient: ", "rejected recipient ", "quota violation for ",
	"your message to ", "your message to: ", "you sent mail to ", "wasn't delivered to ", "local mailbox ",
	"following user:", "was not delivered to: ", "was not delivered to ", "delivery to ",
	"could not deliver mail to ", "mail to ", "error-for: ", "receiver address: ", "address: ", "for <", "to: <", "addressed to email address :",
}

// failure reports whether a text says that something failed, and why.
func failure(text string) bool {
	r, _ := byText(squeeze(text))
	return r != ""
}
