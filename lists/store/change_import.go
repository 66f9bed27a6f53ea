package store

import "errors"

// importMembers adds the members of a side file. Made by Holder.Import only; who
// replays it reads the file.
type importMembers struct {
	// Side is the file's name below side/: the number of the record that names
	// it, a dot, and a random part.
	Side  string `json:"side"`
	Count int    `json:"count"`
	Sum   string `json:"sum"` // SHA-256 of the file
}

// Kind implements Change.
func (importMembers) Kind() string { return "import_members" }

func (c importMembers) check(*State) error {
	if c.Side == "" {
		return errors.New("import members: no side file")
	}
	return nil
}

func (importMembers) apply(*draft) {}
