package stage

import (
	"testing"

	"qrunner/lists"
	"qrunner/lists/message"
)

// A gap stays where it is in the text when bare line ends before it grow.
func TestWireMovesGaps(t *testing.T) {
	m := message.Parse([]byte("Subject: x\n\none\ntwo\rthree\r\n<"))
	at := len("one\ntwo\rthree\r\n")
	raw, gaps := wire(m, []lists.Gap{{At: 0, Text: "a"}, {At: at, Text: "b"}})
	const body = "one\r\ntwo\r\nthree\r\n<"
	if string(raw) != "Subject: x\r\n\r\n"+body || gaps[0].At != 0 || body[gaps[1].At:] != "<" || gaps[1].Text != "b" {
		t.Errorf("%q %+v", raw, gaps)
	}
	if raw, gaps := wire(m, nil); string(raw) != string(m.Wire()) || gaps != nil {
		t.Errorf("%q", raw)
	}
}
