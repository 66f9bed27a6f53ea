package store

import "time"

// With is the state as it would be after changes: for judging the next entry of a
// commit that takes several. Nothing is written. at stands in for the time of the
// commit.
func (s *State) With(at time.Time, cs ...Change) (*State, error) {
	if len(cs) == 0 {
		return s, nil
	}
	d := s.edit()
	d.at = at.UTC()
	for _, c := range cs {
		if err := c.check(&d.State); err != nil {
			return nil, err
		}
		c.apply(d)
	}
	next := d.State
	next.seal(s.conf)
	return &next, nil
}
