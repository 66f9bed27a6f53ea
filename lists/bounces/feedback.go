package bounces

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// complaint reads feedback reports (RFC 5965). The recipient is who the report says,
// else who the returned copy was for; reports that hide it give a result without
// address. Reports of failed authentication (RFC 6591) and that a message was no spam
// are no complaints of a recipient.
func (m *mail) complaint() []Result {
	if len(m.feedback) == 0 {
		return nil
	}
	var out []Result
	for _, part := range m.feedback {
		for _, g := range readGroups(part) {
			kind := strings.ToLower(g.get("feedback-type"))
			r := Result{Class: Complained, Reason: Feedback, Diagnostic: kind}
			if kind == "auth-failure" || kind == "not-spam" || kind == "dmarc" {
				r.Class = None
			}
			for _, a := range m.complainers(g) {
				r.Address = a
				out = append(out, r)
			}
		}
	}
	if len(out) == 0 {
		out = []Result{{Class: Complained, Reason: Feedback}}
	}
	return m.finish(out, "rfc5965")
}

func (m *mail) complainers(g group) []mailaddr.Address {
	var out []mailaddr.Address
	for _, f := range []string{"original-rcpt-to", "removal-recipient"} {
		for _, v := range g[f] {
			if a, ok := typedAddress(v); ok {
				out = append(out, a)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	if a, ok := typedAddress(g.get("original-mail-from")); ok {
		if v, ok := bounceVERP(a); ok && !v.Address.Null() {
			return []mailaddr.Address{v.Address}
		}
	}
	if a := m.copyFor(); !a.Null() {
		return []mailaddr.Address{a}
	}
	return []mailaddr.Address{""}
}

// copyFor is who the returned copy was for: by its VERP sender, else by its header, if
// that names somebody else than the list.
func (m *mail) copyFor() mailaddr.Address {
	if m.original == nil {
		return ""
	}
	for _, a := range m.original.Addresses("Return-Path", "X-Envelope-From", "Sender", "Errors-To") {
		if v, ok := bounceVERP(a); ok && !v.Address.Null() {
			return v.Address
		}
	}
	to := m.original.Addresses("X-Original-To", "Delivered-To", "To")
	if len(to) == 0 || listMail(m.original) || m.addressed(to[0]) {
		return ""
	}
	return to[0]
}

// listMail reports whether a message is a copy of a list's post, whose To is the list.
func listMail(h *message.Message) bool { return h.Has("List-Id") || h.Has("List-Post") }

func bounceVERP(a mailaddr.Address) (mailaddr.VERP, bool) {
	for _, t := range lists.Candidates(a) {
		if t.Sub == lists.SubBounces {
			return mailaddr.DecodeVERP(t.Extra)
		}
	}
	return mailaddr.VERP{}, false
}
