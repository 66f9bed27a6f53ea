package commands

import (
	"fmt"
	"strings"

	"qrunner/lists"
	"qrunner/lists/subscribe"
)

// showSettings shows an owner the list's settings, at his own address only.
func showSettings(a *Asked) (subscribe.Result, error) {
	if err := a.owner(); err != nil {
		return subscribe.Result{}, err
	}
	if err := a.self(); err != nil {
		return subscribe.Result{}, err
	}
	set := a.State.List().Settings
	if words := a.args(); len(words) > 0 {
		row, ok := lists.LookupSetting(strings.ToLower(words[0]))
		if !ok {
			return subscribe.Result{}, refuse("there is no setting %q; \"show\" shows all", shown(words[0]))
		}
		return answered("show", settingLine(set, row.Name), "", row.Doc)
	}
	lines := []string{"Settings of " + string(a.State.ID()) + ":"}
	for _, name := range set.Names() {
		lines = append(lines, settingLine(set, name))
	}
	return answered("show", lines...)
}

// settingLine is a setting with its value, and where that comes from.
func settingLine(set *lists.Settings, name string) string {
	value := strings.ReplaceAll(set.Text(name), "\n", "\n        ")
	if strings.Contains(name, "password") && value != "" {
		value = "(secret)"
	}
	return fmt.Sprintf("    %s: %s (%s)", name, value, set.Source(name))
}
