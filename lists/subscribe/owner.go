package subscribe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// An owner's request is a text of acts, one a line, such as "moderate zed@example.net hold":
// the argument ArgCommand. All of them are confirmed by one token, and then carried out in
// one commit; one that cannot be is said and keeps no other from it.

// act is something that an owner may do by mail. rest is what stands behind its name.
type act func(d Desk, rest string) (Result, error)

// actOf finds an act by its name.
func actOf(name string) (act, bool) {
	a, ok := map[string]act{
		"add": ownerAdd, "del": ownerDel, "set": ownerSet, "moderate": ownerModerate, "ban": ownerBan, "unban": ownerUnban,
	}[name]
	return a, ok
}

// Owner is an owner's wish to have acts carried out.
func Owner(who mailaddr.Address, acts []string) Ask {
	return Ask{Kind: store.PendingOwner, Address: who, Args: map[string]string{ArgCommand: strings.Join(acts, "\n")}}
}

// IsOwner refuses whoever is no owner of the list.
func (d Desk) IsOwner(a mailaddr.Address) error {
	if _, ok := d.list().Roster.Find(lists.RoleOwner, a); !ok {
		return refuse("only the owners of %s may do this, and %s is none; they are at %s", d.list().ID, a, d.list().ID.Address(lists.SubOwner))
	}
	return nil
}

func saneOwner(d Desk, a Ask) (Ask, error) { return a, d.IsOwner(a.Address) }

// Try says what an act would come to: *Refusal if it cannot be carried out. Nothing is
// changed.
func (d Desk) Try(line string) error {
	_, err := d.act(line)
	return err
}

func (d Desk) act(line string) (Result, error) {
	name, rest, _ := strings.Cut(line, " ")
	do, ok := actOf(name)
	if !ok {
		return Result{}, refuse("%q is nothing that an owner can do by mail", name)
	}
	return do(d, strings.TrimSpace(rest))
}

// manage carries acts out.
func manage(d Desk, a Ask) (Result, error) {
	out := Result{Event: "refused"}
	var said, did []string
	for line := range strings.SplitSeq(a.Args[ArgCommand], "\n") {
		res, err := d.act(line)
		if err != nil {
			r, rerr := refused(err)
			if rerr != nil {
				return Result{}, rerr
			}
			said = append(said, line+": "+r.Reason)
			continue
		}
		if d, err = d.after(res.Changes...); err != nil {
			return Result{}, err
		}
		out.Event = "managed"
		out.Changes, out.Notices = append(out.Changes, res.Changes...), append(out.Notices, res.Notices...)
		said, did = append(said, line+": done"), append(did, line)
	}
	out.Said = strings.Join(said, "\n")
	out.Reason = fmt.Sprintf("owner %s: %d of %d done: %s", a.Address, len(did), len(said), strings.Join(did[:min(len(did), 5)], "; "))
	return out, nil
}

// notByMail are settings that decide whom the site believes, and secrets.
var notByMail = []string{
	"moderator_password", "trusted_authserv_ids", "authserv_id", "validate_authenticity", "dkim_selectors", "dkim_domain", "arc_seal",
}

func ownerSet(d Desk, rest string) (Result, error) {
	name, value, _ := strings.Cut(rest, " ")
	name, value = strings.ToLower(name), strings.TrimSpace(value)
	if slices.Contains(notByMail, name) {
		return Result{}, refuse("the setting %s cannot be changed by mail", name)
	}
	if err := lists.CheckListSetting(name, value); err != nil {
		return Result{}, refuse("%v", err)
	}
	return Result{Changes: []store.Change{store.SetSetting{Name: name, Value: value}}}, nil
}

func ownerBan(d Desk, rest string) (Result, error) {
	banned := lines(d.list().Settings.Text("ban_list"))
	rest, err := banned.entry(rest)
	if err != nil {
		return Result{}, err
	}
	if banned.has(rest) {
		return Result{}, refuse("%s is banned already", rest)
	}
	return ownerSet(d, "ban_list "+strings.Join(append(banned, rest), "\n"))
}

func ownerUnban(d Desk, rest string) (Result, error) {
	banned := lines(d.list().Settings.Text("ban_list"))
	rest, err := banned.entry(rest)
	if err != nil {
		return Result{}, err
	}
	if !banned.has(rest) {
		return Result{}, refuse("%s is not on the ban list", rest)
	}
	keep := slices.DeleteFunc(slices.Clone(banned), func(l string) bool { return strings.EqualFold(l, rest) })
	return Result{Changes: []store.Change{store.SetSetting{Name: "ban_list", Value: strings.Join(keep, "\n")}}}, nil
}

// patternLines are the lines of a setting that has addresses and patterns.
type patternLines []string

func lines(text string) (out patternLines) {
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func (p patternLines) has(line string) bool {
	return slices.ContainsFunc(p, func(l string) bool { return strings.EqualFold(l, line) })
}

// entry is an address, or a regular expression that starts with ^, as it stands there.
func (patternLines) entry(text string) (string, error) {
	if strings.HasPrefix(text, "^") {
		return text, nil
	}
	a, err := mailaddr.Parse(strings.Trim(text, "<>"))
	if err != nil {
		return "", refuse("%q is neither a mail address nor a regular expression that starts with ^", text)
	}
	return string(a), nil
}

func ownerModerate(d Desk, rest string) (Result, error) {
	words := strings.Fields(rest)
	if len(words) != 2 {
		return Result{}, refuse("it takes an address and an action: accept, hold, reject, discard, defer, or default")
	}
	who, err := mailaddr.Parse(strings.Trim(words[0], "<>"))
	if err != nil {
		return Result{}, refuse("%q is not a mail address", words[0])
	}
	action := lists.Action(strings.ToLower(words[1]))
	switch action {
	case "default":
		action = ""
	case lists.ActionAccept, lists.ActionHold, lists.ActionReject, lists.ActionDiscard, lists.ActionDefer:
	default:
		return Result{}, refuse("%q is no action: accept, hold, reject, discard, defer, or default", words[1])
	}
	return Result{Changes: []store.Change{Moderate(d.list(), who, action)}}, nil
}

// Moderate gives an author a moderation action: as a member if that is what he is, else as
// a nonmember.
func Moderate(l *lists.List, who mailaddr.Address, action lists.Action) store.Change {
	for _, role := range []lists.Role{lists.RoleMember, lists.RoleNonmember} {
		if old, ok := l.Roster.Find(role, who); ok {
			m := *old
			m.Prefs = maps.Clone(old.Prefs)
			m.Action = action
			return store.SetMember{Member: m}
		}
	}
	return store.AddMember{Member: lists.Member{Address: who, Role: lists.RoleNonmember, Action: action}}
}
