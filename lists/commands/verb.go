package commands

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/subscribe"
)

// Verb is a row of Verbs: what anybody may write to a list.
type Verb struct {
	// Names are the word and others for the same.
	Names []string
	// Args shows the words behind it, for the manual and help.
	Args string
	// Gather: all lines with this verb in a mail are one call.
	Gather bool
	// Block: the lines below it, up to an empty one or "end", are its arguments too.
	Block bool
	// Stop: nothing below is read.
	Stop bool
	// Owners: help shows it to owners only.
	Owners bool
	// Run says what shall come of it; Said of the result is for whoever asked. A *Refusal
	// is for him as well; any other error is trouble.
	Run func(*Asked) (subscribe.Result, error)
	// Doc is a sentence for help and the manual.
	Doc string
}

// Asked is what a verb is asked, and by whom. Nothing proves that it is he.
type Asked struct {
	subscribe.Desk
	// Verbs is the table, for help.
	Verbs []Verb
	// From is the mail's author; null unless it is exactly one address. Name is how he
	// calls himself: one line.
	From mailaddr.Address
	Name string
	// Lines are the words behind the verb: one line, or several if it gathers.
	Lines [][]string
	// Block is the lines below, for a verb that wants them.
	Block []string
	// acts are what an owner wants done, not asked about yet.
	acts []string
	// Directory gives the lists of the site; nil: no list is known but this one.
	Directory func() ([]*lists.List, error)
}

// args is the words of a verb that does not gather.
func (a *Asked) args() []string {
	if len(a.Lines) == 0 {
		return nil
	}
	return a.Lines[0]
}

// options reads words such as address=zed@example.net; others, or an option that is none
// of known, are refused.
func (a *Asked) options(known ...string) (map[string]string, error) {
	out := map[string]string{}
	for _, w := range a.args() {
		name, value, ok := strings.Cut(w, "=")
		name = strings.ToLower(name)
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !ok || !found || value == "" {
			return nil, refuse("%q is not understood here; it takes: %s", shown(w), strings.Join(known, "=..., ")+"=...")
		}
		out[name] = value
	}
	return out, nil
}

// about is the address that a request is about: the one that is named, else the author's.
func (a *Asked) about(named string) (mailaddr.Address, error) {
	if named == "" {
		if a.From.Null() {
			return "", refuse("it is not clear who asks: the mail has no author, or several")
		}
		return a.From, nil
	}
	who, err := mailaddr.Parse(strings.Trim(named, "<>"))
	if err != nil {
		return "", refuse("%q is not a mail address", shown(named))
	}
	return who, nil
}

// self refuses whoever's answer would not go to the author himself: a roster or somebody's
// options are not sent elsewhere.
func (a *Asked) self() error {
	if a.From.Null() || a.From.Key() != a.Sender.Key() {
		return refuse("this is answered only if the mail's From and its envelope sender are the same address")
	}
	return nil
}

// is reports whether the author, if it is he, has one of the roles.
func (a *Asked) is(roles ...lists.Role) bool {
	for _, r := range roles {
		if _, ok := a.State.List().Roster.Find(r, a.From); ok {
			return true
		}
	}
	return false
}

// mostShown is how much of somebody's text is shown to anybody, in octets.
const mostShown = 200

// shown is somebody's text on one line, without control characters, not long.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > mostShown {
		s = strings.ToValidUTF8(s[:mostShown], "") + "..."
	}
	return s
}
