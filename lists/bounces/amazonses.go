package bounces

import (
	"encoding/json"
	"strings"
)

// amazonJSON reads notifications of Amazon SES by mail: a JSON object, plain or inside
// one of SNS.
func amazonJSON(m *mail) []Result {
	if !m.has(`notificationtype`) {
		return nil
	}
	text := strings.NewReplacer("!\n ", "", "\n ", "").Replace(m.textFrom(0))
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
