package queue

import (
	"fmt"
	"slices"
)

// Name is one of the queues; also its folder's name.
type Name string

// The queues, with Mailman's names.
const (
	In       Name = "in"
	Pipeline Name = "pipeline"
	Out      Name = "out"
	Virgin   Name = "virgin"
	Command  Name = "command"
	Bounces  Name = "bounces"
	Digest   Name = "digest"
	Archive  Name = "archive"
	Retry    Name = "retry"
	Shunt    Name = "shunt"
	Bad      Name = "bad"
)

// ListQueues are the queues whose entries are worked under the list's lock, in the
// order in which a holder looks at them: notices before bulk. Digest stands before those
// whose entries put posts aside for a digest: a file that the same commit stages cannot be
// read yet.
var ListQueues = []Name{Virgin, Command, Bounces, Digest, Pipeline, In, Archive}

// Names is every queue in the order of the manual.
var Names = []Name{In, Pipeline, Out, Virgin, Command, Bounces, Digest, Archive, Retry, Shunt, Bad}

// ParseName checks a queue's name.
func ParseName(s string) (Name, error) {
	if !slices.Contains(Names, Name(s)) {
		return "", fmt.Errorf("no queue %q: one of %v", s, Names)
	}
	return Name(s), nil
}
