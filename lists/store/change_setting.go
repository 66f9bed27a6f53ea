package store

import (
	"fmt"
	"maps"

	"qrunner/lists"
)

// SetSetting gives the list a value of its own for a setting.
type SetSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Kind implements Change.
func (SetSetting) Kind() string { return "set_setting" }

func (c SetSetting) check(*State) error { return lists.CheckListSetting(c.Name, c.Value) }

func (c SetSetting) apply(d *draft) {
	d.ownOverrides()
	name, value := lists.Migrate(c.Name, c.Value)
	d.overrides[name] = value
}

// UnsetSetting takes the list's own value away; the level below counts again.
type UnsetSetting struct {
	Name string `json:"name"`
}

// Kind implements Change.
func (UnsetSetting) Kind() string { return "unset_setting" }

func (c UnsetSetting) check(s *State) error {
	_, set := s.overrides[c.Name]
	if _, known := lists.LookupSetting(c.Name); !known && !set {
		return fmt.Errorf("no setting %q", c.Name)
	}
	return nil
}

func (c UnsetSetting) apply(d *draft) {
	d.ownOverrides()
	name, _ := lists.Migrate(c.Name, "")
	delete(d.overrides, name)
}

// ownOverrides copies the map that is shared with the state the draft began from.
func (d *draft) ownOverrides() {
	d.settings = nil
	if d.overridesOwn {
		return
	}
	d.overrides, d.overridesOwn = maps.Clone(d.overrides), true
	if d.overrides == nil {
		d.overrides = map[string]string{}
	}
}
