package lists

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Settings is a list's configuration as it is in force: every setting has its value.
// Made by Resolve; never changed afterwards.
type Settings struct {
	values  map[string]string
	sources map[string]string
}

// Setting is one row of SettingTable.
type Setting struct {
	// Name is Mailman's name where Mailman has the setting.
	Name    string
	Default string
	// Check refuses a value with an error that says what is allowed. nil = any one line.
	Check func(value string) error
	// Doc is one sentence for `list show` and the manual.
	Doc string
}

// Level is a layer of settings: a style, the site, a domain, or the list itself.
type Level struct {
	// Name is shown as the source of a value: "style default", "site", ...
	Name   string
	Values map[string]string
}

// Resolve lays levels over the defaults; a later level wins. Below them all stands
// the style that they name. Names must be known and values valid: CheckSetting is
// called where they are set.
func Resolve(levels ...Level) *Settings {
	style := "default"
	for _, l := range levels {
		if v := l.Values["style"]; v != "" {
			style = v
		}
	}
	levels = append([]Level{{Name: "style " + style, Values: Styles[style]}}, levels...)
	s := &Settings{values: make(map[string]string, len(SettingTable)), sources: make(map[string]string, len(SettingTable))}
	for _, row := range SettingTable {
		s.values[row.Name], s.sources[row.Name] = row.Default, "built in"
	}
	for _, l := range levels {
		for name, v := range l.Values {
			if _, known := s.values[name]; known {
				s.values[name], s.sources[name] = v, l.Name
			}
		}
	}
	return s
}

// LookupSetting finds a row of SettingTable.
func LookupSetting(name string) (Setting, bool) {
	i := slices.IndexFunc(SettingTable, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return SettingTable[i], true
}

// CheckSetting says whether value may be set, and if not, why.
func CheckSetting(name, value string) error {
	row, ok := LookupSetting(name)
	if !ok {
		return fmt.Errorf("no setting %q (list show prints them all)", name)
	}
	if row.Check == nil {
		row.Check = oneLine
	}
	if err := row.Check(value); err != nil {
		return fmt.Errorf("setting %s: %w", name, err)
	}
	return nil
}

// Text is the value of a setting; a name that is not in SettingTable is "".
func (s *Settings) Text(name string) string { return s.values[name] }

// Bool is a yes/no setting.
func (s *Settings) Bool(name string) bool {
	b, _ := parseBool(s.values[name])
	return b
}

// Int is a numeric setting.
func (s *Settings) Int(name string) int64 {
	n, _ := strconv.ParseInt(s.values[name], 10, 64)
	return n
}

// Source names the level that a value comes from.
func (s *Settings) Source(name string) string { return s.sources[name] }

// Names is every setting in order of name.
func (s *Settings) Names() []string { return slices.Sorted(maps.Keys(s.values)) }

func parseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "yes", "true", "on", "1":
		return true, nil
	case "no", "false", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither yes nor no", v)
}
