package retry

import (
	"fmt"
	"testing"

	"qrunner/queue"
)

func TestJudge(t *testing.T) {
	ascii := Facts{ASCII: true}
	tests := []struct {
		reply queue.Reply
		facts Facts
		want  Class
	}{
		{queue.Reply{Code: 250, Phase: queue.PhaseDot}, ascii, Done},
		{queue.Reply{Code: 250, Phase: queue.PhaseRcpt}, ascii, Defer}, // no word about the message
		{queue.Reply{Code: 0, Phase: queue.PhaseConnect}, ascii, Site},
		{queue.Reply{Code: 0, Phase: queue.PhaseGreeting}, ascii, Site},
		{queue.Reply{Code: 0, Phase: queue.PhaseMail}, ascii, Site},
		{queue.Reply{Code: 0, Phase: queue.PhaseRcpt}, ascii, Defer},
		{queue.Reply{Code: 0, Phase: queue.PhaseData}, ascii, Defer},
		{queue.Reply{Code: 0, Phase: queue.PhaseDot}, ascii, Defer},
		{queue.Reply{Code: 421, Phase: queue.PhaseGreeting}, ascii, Site},
		{queue.Reply{Code: 454, Phase: queue.PhaseAuth}, ascii, Site},
		{queue.Reply{Code: 451, Phase: queue.PhaseMail}, ascii, Defer},
		{queue.Reply{Code: 450, Phase: queue.PhaseRcpt}, ascii, Defer},
		{queue.Reply{Code: 452, Phase: queue.PhaseRcpt}, ascii, Defer},
		{queue.Reply{Code: 452, Phase: queue.PhaseRcpt}, Facts{ASCII: true, Accepted: 100}, Again},
		{queue.Reply{Code: 452, Phase: queue.PhaseDot}, Facts{ASCII: true, Accepted: 100}, Defer},
		{queue.Reply{Code: 554, Phase: queue.PhaseGreeting}, ascii, Site},
		{queue.Reply{Code: 550, Phase: queue.PhaseEHLO}, ascii, Site},
		{queue.Reply{Code: 535, Phase: queue.PhaseAuth}, ascii, Site},
		{queue.Reply{Code: 550, Phase: queue.PhaseMail}, ascii, Site},
		{queue.Reply{Code: 530, Phase: queue.PhaseRcpt}, ascii, Site},
		{queue.Reply{Code: 538, Phase: queue.PhaseData}, ascii, Site},
		{queue.Reply{Code: 552, Enhanced: "5.3.4", Phase: queue.PhaseMail}, ascii, Message},
		{queue.Reply{Code: 550, Enhanced: "5.6.7", Phase: queue.PhaseMail}, ascii, Message},
		{queue.Reply{Code: 550, Enhanced: "5.6.7", Phase: queue.PhaseMail}, Facts{}, Refused},
		{queue.Reply{Code: 550, Enhanced: "5.1.1", Phase: queue.PhaseRcpt}, ascii, Refused},
		{queue.Reply{Code: 552, Phase: queue.PhaseRcpt}, ascii, Defer},
		{queue.Reply{Code: 554, Enhanced: "5.7.1", Text: "<m@d.example>: Relay access denied", Phase: queue.PhaseRcpt}, ascii, Site},
		{queue.Reply{Code: 550, Text: "relay not permitted", Phase: queue.PhaseRcpt}, ascii, Site},
		{queue.Reply{Code: 550, Enhanced: "5.7.54", Text: "SMTP; Unable to relay recipient", Phase: queue.PhaseRcpt}, ascii, Site},
		{queue.Reply{Code: 550, Text: "<relay@d.example>: no such user", Phase: queue.PhaseRcpt}, ascii, Refused},
		{queue.Reply{Code: 550, Enhanced: "5.1.1", Text: "mx said: relay access denied", Phase: queue.PhaseRcpt}, ascii, Refused},
		{queue.Reply{Code: 554, Phase: queue.PhaseData}, ascii, Message},
		{queue.Reply{Code: 550, Enhanced: "5.7.1", Phase: queue.PhaseDot}, ascii, Message},
		{queue.Reply{Code: 354, Phase: queue.PhaseDot}, ascii, Defer},
		{queue.Reply{Code: 999, Phase: queue.PhaseRcpt}, ascii, Defer},
		{queue.Reply{Code: 550, Phase: "what"}, ascii, Defer},
		{queue.Reply{}, ascii, Defer},
	}
	for _, tt := range tests {
		if got := Judge(tt.reply, tt.facts); got != tt.want {
			t.Errorf("Judge(%+v, %+v) = %s, want %s", tt.reply, tt.facts, got, tt.want)
		}
	}
}

func TestRepeat(t *testing.T) {
	if !Repeat(queue.Reply{Phase: queue.PhaseDot}) || Repeat(queue.Reply{Phase: queue.PhaseData}) || Repeat(queue.Reply{Code: 451, Phase: queue.PhaseDot}) {
		t.Error("only a drop behind the final dot may repeat")
	}
}

func TestSameRefusal(t *testing.T) {
	many := func(n int, enhanced, text string) []Refusal {
		var out []Refusal
		for i := range n {
			a := fmt.Sprintf("m%d@d%d.example", i, i%3)
			out = append(out, Refusal{a, queue.Reply{Code: 550, Enhanced: enhanced, Text: fmt.Sprintf(text, a), Phase: queue.PhaseRcpt}})
		}
		return out
	}
	tests := []struct {
		name string
		in   []Refusal
		want bool
	}{
		{"nobody", nil, false},
		{"one recipient proves nothing", many(1, "5.7.1", "<%s>: relay access denied"), false},
		{"relaying denied", many(2, "5.7.1", "<%s>: relay access denied"), true},
		{"no enhanced code", many(2, "", "%s: no"), true},
		{"a few dead members", many(9, "5.1.1", "<%s>: user unknown"), false},
		{"everybody unknown", many(10, "5.1.1", "<%s>: user unknown"), true},
		{"two reasons", append(many(10, "5.1.1", "<%s>: user unknown"), many(1, "5.2.1", "<%s>: disabled")...), false},
	}
	for _, tt := range tests {
		if got := SameRefusal(tt.in); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
