package intake

import (
	"cmp"
	"fmt"
	"strings"

	"qrunner/lists/mailaddr"
)

// sender finds the reverse-path of a piped message. What the MTA says in so many
// words has to make sense: a typing error in its configuration is temporary. What
// stands in the message is taken if it is an address. Nothing said is the null path.
func (in *Intake) sender(a DeliverArgs, h head) (mailaddr.Address, error) {
	given, ok := "", false
	if a.Sender != nil {
		given, ok = *a.Sender, true
	} else if a.Env != nil {
		given, ok = a.Env("SENDER")
	}
	if ok {
		s, err := in.reversePath(given)
		if err != nil {
			return "", fmt.Errorf("%w: sender %q: %w", errUsage, given, err)
		}
		return s, nil
	}
	for _, found := range []string{h.returnPath, h.from} {
		if s, err := in.reversePath(found); err == nil && !s.Null() {
			return s, nil
		}
	}
	return "", nil
}

// reversePath reads a sender as MTAs give it: MAILER-DAEMON for null, and local
// users without a domain.
func (in *Intake) reversePath(s string) (mailaddr.Address, error) {
	s = strings.Trim(strings.TrimSpace(s), "<>")
	switch {
	case s == "", strings.EqualFold(s, "MAILER-DAEMON"):
		return "", nil
	case !strings.Contains(s, "@"):
		s += "@" + cmp.Or(in.Domain, in.Host)
	}
	return mailbox(s)
}
