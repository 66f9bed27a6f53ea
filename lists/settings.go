package lists

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Settings is a list's configuration as it is in force: every setting has its value.
// Made by Resolve; never changed afterwards.
type Settings struct {
	values  map[string]string
	sources map[string]string
	parsed  sync.Map // name of a setting -> what its value says, once somebody asked
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
	if now, _ := Migrate(name, value); !ok && now != name {
		return fmt.Errorf("setting %q is %q now (list show prints it)", name, now)
	}
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

// CheckListSetting is CheckSetting for a value of one list's own: what only the site may
// set is refused.
func CheckListSetting(name, value string) error {
	if slices.Contains(SiteSettings, name) {
		return fmt.Errorf("setting %s: for the whole site only, in the configuration file", name)
	}
	return CheckSetting(name, value)
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

// Untouched reports whether the list passes posts on without changing what their authors
// signed: the style of that name.
func (s *Settings) Untouched() bool { return s.values["style"] == "untouched" }

// SettingError: a value that is in force cannot be read. CheckSetting keeps such values
// out; one that came another way (an older version's) must not stop the list's mail.
type SettingError struct {
	Name string
	Err  error
}

// Error names the setting and what is wrong with it.
func (e *SettingError) Error() string { return "setting " + e.Name + ": " + e.Err.Error() }

// Unwrap gives the parser's error.
func (e *SettingError) Unwrap() error { return e.Err }

// Duration is a setting of a span of time.
func (s *Settings) Duration(name string) time.Duration {
	d, _ := ParseDuration(s.values[name])
	return d
}

// Patterns is a setting of addresses and regular expressions; *SettingError if it
// cannot be read. It is parsed once; the caller must not change the result.
func (s *Settings) Patterns(name string) ([]Pattern, error) { return parsed(s, name, ParsePatterns) }

// HeaderMatches is a setting of header matches, as Patterns.
func (s *Settings) HeaderMatches(name string) ([]HeaderMatch, error) {
	return parsed(s, name, ParseHeaderMatches)
}

func parsed[T any](s *Settings, name string, parse func(string) ([]T, error)) ([]T, error) {
	if got, ok := s.parsed.Load(name); ok {
		return got.([]T), nil
	}
	out, err := parse(s.values[name])
	if err != nil {
		return nil, &SettingError{name, err}
	}
	s.parsed.Store(name, out)
	return out, nil
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
