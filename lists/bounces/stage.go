package bounces

import "strings"

// stage is how far an SMTP session had come when it was refused.
type stage int

const (
	stageUnknown stage = iota
	stageConnect       // greeting, EHLO, STARTTLS
	stageMail
	stageRcpt
	stageData
)

// stages are the words by which mail systems say what a reply answered to.
var stages = []struct {
	words string
	stage stage
}{
	{"in reply to rcpt to", stageRcpt}, {"in reply to mail from", stageMail}, {"in reply to end of data", stageData},
	{"in reply to data", stageData}, {"in reply to helo", stageConnect}, {"in reply to ehlo", stageConnect},
	{"reply to helo", stageConnect}, {"while performing the ehlo", stageConnect}, {"while receiving the initial", stageConnect},
	{"after initial connection", stageConnect}, {"after rcpt to", stageRcpt}, {"after rcpt command", stageRcpt},
	{"after mail from", stageMail}, {"after mail command", stageMail}, {"after end of data", stageData},
	{"after pipelined end of data", stageData}, {"after pipelined rcpt to", stageRcpt}, {"after pipelined mail from", stageMail},
	{"after data", stageData}, {"after ehlo", stageConnect}, {"after helo", stageConnect}, {"after starttls", stageConnect},
	{"for text command", stageData}, {"for rcpt command", stageRcpt}, {"for mail command", stageMail},
	{"did not like our rcpt to", stageRcpt}, {"did not like our mail from", stageMail}, {"did not like our final data", stageData},
	{"did not like our data", stageData}, {"did not like our ehlo", stageConnect}, {"does not like recipient", stageRcpt},
	{"sender was rejected", stageMail}, {"my name was rejected", stageConnect}, {"but connection died", stageConnect},
	{"failed after i sent the message", stageData}, {"failed on data command", stageData}, {"following rcpt command", stageRcpt},
	{"following mail command", stageMail}, {"following data command", stageData}, {"smtp:rcpt host", stageRcpt},
	{"smtp:data host", stageData}, {"smtp:mail host", stageMail}, {"[rcpt_to]", stageRcpt}, {"[mail_from]", stageMail},
	{"[data]", stageData}, {"in rcpt to", stageRcpt}, {"rcpt to response", stageRcpt}, {"rcpt to generated following response", stageRcpt},
	{"mail from generated following response", stageMail}, {"body of message generated response", stageData},
	{"unknown recipient or mailbox unavailable", stageRcpt}, {"sent <<< rcpt to", stageRcpt}, {"sent <<< mail from", stageMail},
	{"sent <<< data", stageData}, {"gave this error at rcpt", stageRcpt},
}

// stageOf finds out what the reply in a text (in lower case) answered to.
func stageOf(low string) stage {
	if low == "" {
		return stageUnknown
	}
	h := newHaystack(low)
	for _, s := range stages {
		if h.has(s.words) {
			return s.stage
		}
	}
	return stageUnknown
}

// commandStage is the stage of an SMTP command line in lower case.
func commandStage(low string) stage {
	for _, c := range []struct {
		verb  string
		stage stage
	}{
		{"rcpt", stageRcpt}, {"mail", stageMail}, {"data", stageData}, {"ehlo", stageConnect}, {"helo", stageConnect},
		{"starttls", stageConnect}, {".", stageData}, {"bdat", stageData}, {"lhlo", stageConnect},
	} {
		if strings.HasPrefix(low, c.verb) {
			return c.stage
		}
	}
	return stageUnknown
}
