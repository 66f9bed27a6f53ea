package store

import (
	"bytes"
)

// dump is the state as its snapshot has it.
func dump(s *State) string {
	var b bytes.Buffer
	if err := writeSnapshot(&b, s); err != nil {
		return err.Error()
	}
	return b.String()
}
