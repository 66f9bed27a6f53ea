package subscribe

import (
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/templates"
)

// saneJoin refuses who cannot become a member.
func saneJoin(d Desk, a Ask) (Ask, error) {
	if err := d.Welcome(a.Address); err != nil {
		return a, err
	}
	if m, ok := d.member(a.Address); ok {
		return a, refuse("%s is a member of %s already", m.Address, d.list().ID)
	}
	if p, ok := d.State.PendingFor(store.PendingJoin, a.Address, d.At); ok && p.State == store.PendingModerate && !a.Approved {
		return a, refuse("the request of %s to join waits for the list's moderators already", a.Address)
	}
	return a, nil
}

// Welcome says whether an address may be on the roster, or why not: *Refusal. A list's own
// addresses would make a loop; and there are bans.
func (d Desk) Welcome(a mailaddr.Address) error {
	l := d.list()
	if _, err := mailaddr.Parse(string(a)); err != nil {
		return refuse("there is no address to write to")
	}
	for _, t := range lists.Candidates(a) {
		if t.List == l.ID {
			return refuse("%s is the list's own address", a)
		}
	}
	for _, setting := range []string{"ban_list", "site_ban_list"} {
		banned, err := l.Settings.Patterns(setting)
		if err != nil {
			return fmt.Errorf("read who is banned: %w", err)
		}
		for _, p := range banned {
			if p.Match(a) {
				return refuse("%s is banned from %s; its owners are at %s", a, l.ID, l.ID.Address(lists.SubOwner))
			}
		}
	}
	return nil
}

// join puts somebody on the roster. All that else waits for the same is done with it.
func join(d Desk, a Ask) (Result, error) {
	m := lists.Member{Address: a.Address, Role: lists.RoleMember, Name: a.Name, Mode: a.Mode, Since: d.At}
	if lang := a.Args[argLanguage]; lang != "" {
		m.Prefs = map[string]string{"preferred_language": lang}
	}
	out := Result{
		Event: "joined", Reason: fmt.Sprintf("%s has joined", a.Address),
		Said:    fmt.Sprintf("%s is now a member of %s.", a.Address, d.list().ID),
		Changes: append(d.closed(a.Address, store.PendingJoin, store.PendingInvite), store.AddMember{Member: m}),
		Notices: d.Joined(m),
	}
	return out, nil
}

// closed are the changes that close what waits about an address.
func (d Desk) closed(a mailaddr.Address, kinds ...store.PendingKind) (out []store.Change) {
	for _, k := range kinds {
		if p, ok := d.State.PendingFor(k, a, d.At); ok {
			out = append(out, store.ClosePending{ID: p.ID})
		}
	}
	return out
}

// Joined are the mails when somebody has become a member, as far as the list wants them.
func (d Desk) Joined(m lists.Member) []Notice {
	return d.moved(m, "send_welcome_message", templates.UserWelcome, templates.AdminSubscribe)
}

// Left are the mails when somebody was a member, as far as the list wants them.
func (d Desk) Left(m lists.Member) []Notice {
	return d.moved(m, "send_goodbye_message", templates.UserGoodbye, templates.AdminUnsubscribe)
}

func (d Desk) moved(m lists.Member, setting string, user, admin templates.Name) (out []Notice) {
	set := d.list().Settings
	if m.Role != lists.RoleMember {
		return nil
	}
	if set.Bool(setting) {
		shown := m.Name
		if shown == "" {
			shown = string(m.Address)
		}
		vars := templates.Vars{"user_email": string(m.Address), "user_name": m.Name, "user_name_or_address": shown}
		if user == templates.UserWelcome {
			vars["delivery_mode"] = string(m.Mode)
		}
		out = append(out, Notice{To: m.Address, Template: user, Lang: d.list().Language(&m), Vars: vars})
	}
	if set.Bool("admin_notify_mchanges") {
		out = append(out, Notice{Template: admin, Vars: templates.Vars{"member": string(m.Address), "user_name": m.Name}})
	}
	return out
}
