package zklock

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"qrunner/locking"
)

// owner is the content of our nodes: who we are, for people.
type owner struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	Note string `json:"note,omitempty"`
}

// maxNote is how much of a note is kept, in octets.
const maxNote = 1024

func (o owner) encode() []byte {
	if len(o.Note) > maxNote {
		o.Note = o.Note[:maxNote]
	}
	o.Note = clean(o.Note)
	b, _ := json.Marshal(o) // strings and a number: cannot fail
	return b
}

// holder reads a node's content. Other clients put there what they like: it becomes
// the note.
func holder(data []byte, st *zk.Stat) locking.Holder {
	var o owner
	if json.Unmarshal(data, &o) != nil || o.Host == "" {
		o = owner{Note: string(data[:min(len(data), maxNote)])}
	}
	return locking.Holder{Host: clean(o.Host), PID: o.PID, Note: clean(o.Note), Since: time.UnixMilli(st.Ctime)}
}

// clean makes one valid line of s.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
