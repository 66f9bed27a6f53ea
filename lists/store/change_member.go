package store

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// AddMember puts somebody on the roster. A Member.ID of 0 means the next free
// number, a zero Since the time of the commit.
type AddMember struct {
	Member lists.Member `json:"member"`
}

// Kind implements Change.
func (AddMember) Kind() string { return "add_member" }

func (c AddMember) check(s *State) error {
	m := &c.Member
	if err := checkMember(m); err != nil {
		return err
	}
	if _, ok := s.roster.Find(m.Role, m.Address); ok {
		return fmt.Errorf("add %s %s: %w", m.Role, m.Address, ErrMemberExists)
	}
	if _, ok := s.roster.ByID(m.ID); ok {
		return fmt.Errorf("add %s %s: number %d is taken: %w", m.Role, m.Address, m.ID, ErrMemberExists)
	}
	return nil
}

func (c AddMember) apply(d *draft) { d.addMember(c.Member) }

// DelMember takes an address off the roster in one role.
type DelMember struct {
	Role    lists.Role       `json:"role"`
	Address mailaddr.Address `json:"address"`
}

// Kind implements Change.
func (DelMember) Kind() string { return "del_member" }

func (c DelMember) check(s *State) error {
	if _, ok := s.roster.Find(c.Role, c.Address); !ok {
		return fmt.Errorf("remove %s %s: %w", c.Role, c.Address, ErrNoMember)
	}
	return nil
}

func (c DelMember) apply(d *draft) {
	if m, ok := d.roster.Find(c.Role, c.Address); ok {
		if b, _ := d.bounces.get(Bounce{Member: m.ID}); b.Removed.IsZero() { // why he was removed is kept
			d.dropBounce(m.ID)
		}
	}
	d.roster.remove(c.Role, c.Address)
}

// SetMember replaces what the roster says of a member, who is found by ID; the
// address and role may be new. An ID of 0 means: found by role and address.
type SetMember struct {
	Member lists.Member `json:"member"`
}

// Kind implements Change.
func (SetMember) Kind() string { return "set_member" }

func (c SetMember) check(s *State) error {
	m := &c.Member
	if err := checkMember(m); err != nil {
		return err
	}
	there, taken := s.roster.Find(m.Role, m.Address)
	if m.ID == 0 && !taken {
		return fmt.Errorf("change %s %s: %w", m.Role, m.Address, ErrNoMember)
	}
	if m.ID == 0 {
		return nil
	}
	if _, ok := s.roster.ByID(m.ID); !ok {
		return fmt.Errorf("change member %d: %w", m.ID, ErrNoMember)
	}
	if taken && there.ID != m.ID {
		return fmt.Errorf("change member %d to %s %s: %w", m.ID, m.Role, m.Address, ErrMemberExists)
	}
	return nil
}

func (c SetMember) apply(d *draft) { d.setMember(c.Member) }

func checkMember(m *lists.Member) error {
	if roleIndex(m.Role) < 0 {
		return fmt.Errorf("member %s: no role %q", m.Address, m.Role)
	}
	if _, err := mailaddr.Parse(string(m.Address)); err != nil {
		return fmt.Errorf("member: %w", err)
	}
	return nil
}
