package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Change is one typed change of a list's state. The types of this package are all
// there are.
type Change interface {
	// Kind is the name of the change in the log.
	Kind() string
	// check refuses a change that does not fit the state; called at Commit only.
	check(s *State) error
	// apply carries the change out. It depends on nothing but the draft, so that
	// every host gets the same state from the same log.
	apply(d *draft)
}

// kinds is every kind of change that this version knows. A kind is never taken
// away and never changes its meaning: old logs name it.
var kinds = map[string]func(json.RawMessage) (Change, error){
	"add_member":     decode[AddMember],
	"del_member":     decode[DelMember],
	"set_member":     decode[SetMember],
	"import_members": decode[importMembers],
	"set_setting":    decode[SetSetting],
	"unset_setting":  decode[UnsetSetting],
	"hold_post":      decode[HoldPost],
	"drop_held":      decode[DropHeld],
	"set_post_id":    decode[SetPostID],
	"add_to_digest":  decode[AddToDigest],
	"close_digest":   decode[CloseDigest],
	"set_digest":     decode[SetDigest],
	"drop_digest":    decode[DropDigest],
	"mark_seen":      decode[MarkSeen],
	"open_handover":  decode[OpenHandover],
	"close_handover": decode[CloseHandover],
	"set_bounce":     decode[SetBounce],
	"drop_bounce":    decode[DropBounce],
	"set_storm":      decode[SetStorm],
	"add_count":      decode[AddCount],
	"open_pending":   decode[OpenPending],
	"close_pending":  decode[ClosePending],
	"mark_attempt":   decode[MarkAttempt],
	"clear_attempt":  decode[ClearAttempt],
}

// decode is strict: a field that this version does not know means something that
// it would lose.
func decode[C Change](raw json.RawMessage) (Change, error) {
	var c C
	if err := strict(raw, &c); err != nil {
		return nil, err
	}
	return c, nil
}

func strict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	switch {
	case err == nil && d.More():
		return errors.New("text behind the object")
	case err != nil && strings.Contains(err.Error(), "unknown field"): // encoding/json has no type for it
		return fmt.Errorf("%w: %w", ErrNewer, err)
	}
	return err
}

// Changes is a list of changes as it stands in a record: objects of one field,
// whose name is the kind.
type Changes []Change

// MarshalJSON implements json.Marshaler.
func (cs Changes) MarshalJSON() ([]byte, error) {
	out := make([]map[string]Change, len(cs))
	for i, c := range cs {
		out[i] = map[string]Change{c.Kind(): c}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (cs *Changes) UnmarshalJSON(data []byte) error {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for _, one := range raw {
		if len(one) != 1 {
			return fmt.Errorf("change with %d kinds", len(one))
		}
		for kind, body := range one {
			dec, ok := kinds[kind]
			if !ok {
				return fmt.Errorf("change of kind %q: %w", kind, ErrNewer)
			}
			c, err := dec(body)
			if err != nil {
				return fmt.Errorf("change of kind %q: %w", kind, err)
			}
			*cs = append(*cs, c)
		}
	}
	return nil
}
