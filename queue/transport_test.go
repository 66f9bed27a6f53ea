package queue

import (
	"errors"
	"testing"
)

func TestSiteError(t *testing.T) {
	for _, tc := range []struct {
		err  SiteError
		want string
	}{
		{SiteError{Host: "mx:25", Phase: PhaseConnect, Err: errors.New("refused")}, "smarthost mx:25, connect: refused"},
		{SiteError{Host: "mx:25", Phase: PhaseAuth, Reply: Reply{Code: 535, Enhanced: "5.7.8", Text: "no", Phase: PhaseAuth}}, "smarthost mx:25, auth: 535 5.7.8 no"},
		{SiteError{Phase: PhaseConnect, Reply: Reply{Text: "dial tcp mx:25: refused", Phase: PhaseConnect}}, "smarthost, connect: dial tcp mx:25: refused"},
		{SiteError{Host: "mx:25", Phase: PhaseEHLO}, "smarthost mx:25, ehlo: no answer"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
