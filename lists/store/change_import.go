package store

import (
	"errors"

	"qrunner/lists"
)

// importMembers adds the members of a side file. Made by Holder.Import only.
type importMembers struct {
	// Side is the file's name below side/.
	Side  string `json:"side"`
	Count int    `json:"count"`
	Sum   string `json:"sum"` // SHA-256 of the file

	// members is filled in by whoever has read, or is writing, the file.
	members []lists.Member
}

// Kind implements Change.
func (importMembers) Kind() string { return "import_members" }

func (c importMembers) check(*State) error {
	return errors.New("import members: use Import")
}

func (c importMembers) apply(d *draft) {
	for _, m := range c.members {
		d.addMember(m)
	}
}
