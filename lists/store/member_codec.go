package store

import (
	"encoding/json"
	"fmt"

	"qrunner/lists"
)

// appendMember adds a member as a line of JSON, unless there was an error before.
func appendMember(buf []byte, m *lists.Member, err error) ([]byte, error) {
	if err != nil {
		return buf, err
	}
	line, err := json.Marshal(m)
	return append(buf, line...), err
}

// parseMember reads a member's line.
func parseMember(line []byte) (m lists.Member, err error) {
	if err = strict(line, &m); err == nil && roleIndex(m.Role) < 0 {
		err = fmt.Errorf("member %s: no role %q", m.Address, m.Role)
	}
	return m, err
}
