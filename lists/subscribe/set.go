package subscribe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/store"
)

const argLanguage = "language"

// option is something that a member may set by mail, with Mailman's word for it.
type option struct {
	name   string
	values []string // nil: the preference's own check decides
	pref   string   // the preference that it is, if it is one
}

// options are all of them, in the order in which they are shown.
var options = []option{
	{"delivery", onOff, ""},
	{"digest", []string{"off", "plain", "mime"}, ""},
	{"ack", onOff, "acknowledge_posts"},
	{"myposts", onOff, "receive_own_postings"},
	{"duplicates", onOff, "receive_list_copy"},
	{"hide", onOff, "hide_address"},
	{argLanguage, nil, "preferred_language"},
}

var onOff = []string{"on", "off"}

// ParseOption reads what stands behind "set": an option and its value; *Refusal says what
// there is.
func ParseOption(words []string) (name, value string, err error) {
	if len(words) != 2 {
		return "", "", refuse("it takes an option and a value, such as \"set delivery off\"; there are: %s", optionNames())
	}
	name, value = strings.ToLower(words[0]), strings.ToLower(words[1])
	if name == argLanguage {
		value = words[1]
	}
	i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	switch {
	case i < 0:
		return "", "", refuse("there is no option %q; there are: %s", name, optionNames())
	case options[i].values != nil && !slices.Contains(options[i].values, value):
		return "", "", refuse("%s is one of: %s", name, strings.Join(options[i].values, ", "))
	case options[i].values == nil:
		if err := lists.CheckPref(options[i].pref, value); err != nil {
			return "", "", refuse("%v", err)
		}
	}
	return name, value, nil
}

func optionNames() string {
	var out []string
	for _, o := range options {
		out = append(out, o.name)
	}
	return strings.Join(out, ", ")
}

// Options shows what a member has set, a line each.
func Options(l *lists.List, m *lists.Member) []string {
	var out []string
	for _, o := range options {
		value := "off"
		switch {
		case o.name == "delivery":
			value = "on"
			if m.Status != "" && m.Status != lists.StatusEnabled {
				value = "off (" + string(m.Status) + ")"
			}
		case o.name == "digest" && m.Mode.Digests():
			value = strings.TrimSuffix(strings.Replace(string(m.Mode), "plaintext", "plain", 1), "_digests")
		case o.name == argLanguage:
			value = m.Prefs[o.pref]
			if value == "" {
				value = l.Settings.Text(o.pref)
			}
		case o.pref != "" && l.PrefBool(m, o.pref):
			value = "on"
		}
		out = append(out, fmt.Sprintf("%-12s %s", o.name, value))
	}
	return out
}

func saneSet(d Desk, a Ask) (Ask, error) {
	m, ok := d.member(a.Address)
	if !ok {
		return a, refuse("%s is not a member of %s", a.Address, d.list().ID)
	}
	a.Address = m.Address
	if m.Status == lists.StatusByModerator && a.Args["delivery"] == "on" {
		return a, refuse("delivery to %s was stopped by the list's moderators", m.Address)
	}
	return a, nil
}

// set carries options out that ParseOption has read.
func set(d Desk, a Ask) (Result, error) {
	old, ok := d.member(a.Address)
	if !ok {
		return refused(refuse("%s is not a member of %s", a.Address, d.list().ID))
	}
	m := *old
	m.Prefs = maps.Clone(old.Prefs)
	if m.Prefs == nil {
		m.Prefs = map[string]string{}
	}
	for _, o := range options {
		value, ok := a.Args[o.name]
		switch {
		case !ok:
		case o.name == "delivery" && value == "on":
			m.Status, m.StatusSince, m.StatusWhy = "", d.At, "asked by mail"
		case o.name == "delivery":
			m.Status, m.StatusSince, m.StatusWhy = lists.StatusByUser, d.At, "asked by mail"
		case o.name == "digest":
			m.Mode = digestModes[value]
		case o.values == nil:
			m.Prefs[o.pref] = value
		default:
			m.Prefs[o.pref] = map[string]string{"on": "yes", "off": "no"}[value]
		}
	}
	did := Describe(a.pending(store.Pending{}))
	return Result{
		Event: "set", Reason: fmt.Sprintf("%s: %s", did, m.Address), Changes: []store.Change{store.SetMember{Member: m}},
		Said: fmt.Sprintf("Done for %s: %s.", m.Address, did),
	}, nil
}

// digestModes are the delivery modes by the words for them.
var digestModes = map[string]lists.DeliveryMode{
	"off": lists.ModeRegular, "no": lists.ModeRegular, "plain": lists.ModePlainDigests, "mime": lists.ModeMIMEDigests,
}

// DigestMode is a delivery mode by the word for it: no, off, plain, mime.
func DigestMode(word string) (lists.DeliveryMode, bool) {
	m, ok := digestModes[strings.ToLower(word)]
	return m, ok
}
