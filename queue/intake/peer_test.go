package intake

import (
	"net"
	"os/exec"
	"strings"
	"testing"
)

// TestPostfixSource has Postfix's load generator send over each protocol, several
// connections and recipients at a time.
func TestPostfixSource(t *testing.T) {
	program, err := exec.LookPath("smtp-source")
	if err != nil {
		t.Skip("smtp-source of Postfix is not installed")
	}
	for name, test := range map[string]struct {
		proto, network string
		args           []string
		want           int
	}{
		"lmtp unix": {"lmtp", "unix", []string{"-L", "-r", "3"}, 600},
		"lmtp tcp":  {"lmtp", "tcp", []string{"-L", "-d"}, 200},
		"smtp":      {"smtp", "tcp", []string{"-d"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShare()
			// With -r, smtp-source puts a number before each recipient.
			s.lists = append(s.lists, "1ant@lists.example.com", "2ant@lists.example.com", "3ant@lists.example.com")
			addr := serve(t, newIntake(t, s, Limits{}), test.proto, test.network)
			to := "inet:" + addr.String()
			if _, ok := addr.(*net.UnixAddr); ok {
				to = "unix:" + addr.String()
			}
			args := append(test.args, "-s", "5", "-m", "200", "-l", "3000", "-f", "anne@example.org", "-t", "ant@lists.example.com", to)
			if out, err := exec.Command(program, args...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%s: %v, %s", strings.Join(args, " "), err, out)
			}
			if got := s.take(); len(got) != test.want {
				t.Errorf("%d entries, want %d", len(got), test.want)
			}
		})
	}
}
