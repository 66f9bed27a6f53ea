package bounces

import "strings"

// autoReply recognises what answers for a person: vacation notes, acknowledgements,
// read receipts. They came to the bounces address because it is the envelope sender;
// the copy itself has arrived.
func (m *mail) autoReply() []Result {
	if !m.automatic() {
		return nil
	}
	r := Result{Address: m.from, Class: None, Reason: Vacation, Diagnostic: m.subject}
	return m.finish([]Result{r}, "rfc3834")
}

func (m *mail) automatic() bool {
	if len(m.mdn) > 0 {
		return !m.has("was automatically rejected")
	}
	auto := strings.ToLower(m.head.Get("Auto-Submitted"))
	if strings.HasPrefix(auto, "auto-replied") || strings.HasPrefix(auto, "auto-generated") || strings.HasPrefix(auto, "auto-notified") {
		return true
	}
	for _, f := range []string{"X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Autoreply-From", "X-Mail-Autoreply", "X-Vacation", "Vacation-Message",
		"X-Auto-Response-From"} {
		if m.head.Has(f) {
			return true
		}
	}
	if strings.EqualFold(m.head.Get("X-Apple-Action"), "vacation") || strings.EqualFold(m.head.Get("Delivered-To"), "autoresponder") {
		return true
	}
	p := strings.ToLower(m.head.Get("Precedence"))
	if p == "auto_reply" || p == "auto-reply" {
		return true
	}
	if m.replySubject() {
		return true
	}
	bulk := p == "bulk" || p == "junk"
	return bulk && !m.head.Has("List-Id") && (nullPath(m.head.Get("Return-Path")) || m.head.Has("In-Reply-To")) || m.away()
}

func (m *mail) replySubject() bool { return m.title.any(replySubjects) }

func nullPath(v string) bool { return strings.TrimSpace(v) == "<>" }

// away recognises a short note by its first lines, for programs that mark nothing.
func (m *mail) away() bool {
	for _, s := range awayPhrases {
		if m.whole.has(s) && strings.Contains(m.whole.text[:min(len(m.whole.text), 400)], s) {
			return true
		}
	}
	return false
}

// replySubjects are parts of subjects of automatic replies, in lower case.
var replySubjects = []string{
	"automatic reply", "automatic response", "auto reply", "auto-reply", "autoreply", "auto response",
	"auto-response", "autoresponse", "out of office", "out of the office", "away from the office",
	"away from my mail", "on vacation", "vacation reply", "automated response", "automated reply", "abwesenheit",
	"automatische antwort", "abwesend", "nicht im büro", "réponse automatique", "absence du bureau",
	"en dehors du bureau", "respuesta automática", "fuera de la oficina", "resposta automática",
	"risposta automatica", "fuori sede", "fuori ufficio", "automatisch antwoord", "afwezig", "automatyczna odpowied",
	"autosvar", "automaattinen vastaus", "automatisk svar", "автоответ", "автоматический ответ", "自動応答", "自動返信", "不在",
	"自动回复", "自動回覆", "otomatik yanıt", "automatická odpověď",
}

// awayPhrases are what people write into their vacation notes, in lower case.
var awayPhrases = []string{
	"i am out of the office", "i'm out of the office", "i am currently out of", "i will be out of the office",
	"i am on vacation", "i'm on vacation", "i am away until", "i am currently away", "out of office until",
	"i am on leave", "i am on holiday", "thank you for your e-mail. i will", "thank you for you e-mail",
	"thank you for contacting", "ich bin bis", "ich bin derzeit nicht", "bin ich nicht im büro", "je suis absent",
	"je serai absent", "actuellement absent", "sono fuori ufficio", "estoy fuera de la oficina", "я в отпуске",
	"нахожусь в отпуске", "buiten kantoor", "休暇を", "不在にして",
}
