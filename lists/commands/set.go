package commands

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// set takes all options of a mail as one request. Mailman 2's authenticate and reminders
// are answered: there are no passwords.
func set(a *Asked) (subscribe.Result, error) {
	args := map[string]string{}
	show := false
	var said []string
	for _, words := range a.Lines {
		first := strings.ToLower(strings.Join(words[:min(1, len(words))], ""))
		switch first {
		case "show":
			show = true
			continue
		case "authenticate", "reminders":
			said = append(said, "There are no passwords, so \"set "+first+"\" means nothing.")
			continue
		}
		if _, ok := lists.LookupSetting(first); ok { // an owner's
			res, err := a.wish("set " + strings.Join(words, " "))
			if err != nil {
				return subscribe.Result{}, err
			}
			said = append(said, res.Said)
			continue
		}
		name, value, err := subscribe.ParseOption(words)
		if err != nil {
			return subscribe.Result{}, err
		}
		args[name] = value
	}
	out := subscribe.Result{Event: "answered", Reason: "set"}
	if len(args) > 0 {
		who, err := a.about("")
		if err == nil {
			out, err = a.Request(subscribe.Ask{Kind: store.PendingSet, Address: who, Args: args})
		}
		if err != nil {
			return out, err
		}
	}
	if show {
		lines, err := a.show()
		if err != nil {
			return out, err
		}
		said = append(said, lines...)
	}
	out.Said = strings.TrimPrefix(strings.Join(append([]string{out.Said}, said...), "\n"), "\n")
	return out, nil
}

// show is what the author has set, for himself only.
func (a *Asked) show() ([]string, error) {
	if err := a.self(); err != nil {
		return nil, err
	}
	m, ok := a.State.List().Roster.Find(lists.RoleMember, a.From)
	if !ok {
		return nil, refuse("%s is not a member", a.From)
	}
	return append([]string{"Set for " + string(m.Address) + ":"}, subscribe.Options(a.State.List(), m)...), nil
}
