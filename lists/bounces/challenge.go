package bounces

import "strings"

// challenge recognises mailboxes that want their correspondents confirmed first, even
// in the guise of a delivery report.
func (m *mail) challenge() []Result {
	found := m.head.Has("X-Bluebottle-Request") || m.head.Has("X-ChoiceMail-Registration-Request") || m.head.Has("X-Spamarrest-Challenge") ||
		strings.HasSuffix(m.from.Domain(), "boxbe.com") || strings.HasSuffix(m.from.Domain(), "spamarrest.com")
	found = found || m.whole.any(challengePhrases)
	for _, s := range m.status {
		found = found || strings.Contains(s, "X-Boxbe-Notice")
	}
	if !found {
		return nil
	}
	return m.finish([]Result{{Address: m.from, Class: None, Reason: Confirm, Diagnostic: m.subject}}, "challenge")
}

// challengePhrases are sentences of challenges, in lower case.
var challengePhrases = []string{
	"have your address added to the recipient's allowed", "this account is protected by",
	"to complete this verification", "confirm that you sent", "please confirm your message",
	"this one-time confirmation", "click the link below to verify your message",
	"click the following link to deliver your", "you will only have to do this once",
	"you need to verify your email address by clicking", "sender verification required before",
	"your message is being held until you confirm", "by replying to this message you confirm",
	"i'm protecting myself from receiving junk", "i am protecting myself from receiving junk", "tmda-confirm",
	"active spam killer", "reply to this email so that i know you are not", "your e-mail address is not in my",
	"confirm that you're listed on",
}
