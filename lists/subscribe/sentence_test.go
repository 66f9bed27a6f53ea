package subscribe_test

import (
	"testing"

	"qrunner/lists/subscribe"
)

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "it is so": "It is so.", "done.": "Done.", "yan@example.net is not a member": "yan@example.net is not a member.",
		"admin_immed_notify is yes or no": "admin_immed_notify is yes or no.", "écrit": "Écrit.", "\"x\" is nothing": "\"x\" is nothing.",
	} {
		if got := subscribe.Sentence(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
