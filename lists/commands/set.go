package commands

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// set takes all options of a mail as one request; if one of them is wrong, none is set, and
// all that are wrong are said. Mailman 2's authenticate and reminders are answered: there
// are no passwords.
func set(a *Asked) (subscribe.Result, error) {
	args := map[string]string{}
	show := false
	var said, wrong []string
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
		why, ok := Refused(err)
		switch {
		case ok:
			wrong = append(wrong, strings.TrimSpace("set "+shown(strings.Join(words, " ")))+": "+why)
		case err != nil:
			return subscribe.Result{}, err
		}
		args[name] = value
	}
	out, err := a.setAll(args, wrong)
	if err != nil {
		return out, err
	}
	if show {
		lines, err := a.show()
		if why, ok := Refused(err); ok {
			lines, err = []string{subscribe.Sentence(why)}, nil
		}
		if err != nil {
			return out, err
		}
		said = append(said, lines...)
	}
	out.Said = strings.TrimPrefix(strings.Join(append([]string{out.Said}, said...), "\n"), "\n")
	return out, nil
}

// setAll asks for options, if all are right.
func (a *Asked) setAll(args map[string]string, wrong []string) (subscribe.Result, error) {
	switch {
	case len(wrong) > 0:
		return subscribe.Result{Event: "refused", Reason: strings.Join(wrong, "; "), Said: strings.Join(wrong, "\n") + "\nNone of the options was changed."}, nil
	case len(args) == 0:
		return subscribe.Result{Event: "answered", Reason: "set"}, nil
	}
	who, err := a.about("")
	if err != nil {
		return subscribe.Result{}, err
	}
	return a.Request(subscribe.Ask{Kind: store.PendingSet, Address: who, Args: args})
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
