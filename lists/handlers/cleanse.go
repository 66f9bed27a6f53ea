package handlers

import (
	"context"
	"slices"
	"strings"

	"qrunner/lists"
	"qrunner/lists/message"
	"qrunner/lists/rules"
)

// unwanted fields make every member's mailer tell the author something, claim what
// only we can know, or belong to the delivery that ends here.
var unwanted = []string{
	"Archived-At", "Bcc", "Delivered-To", "Disposition-Notification-To", "Return-Path", "Return-Receipt-To", "Urgent",
	"X-Confirm-Reading-To", "X-Envelope-From", "X-Envelope-To", "X-MailFrom", "X-Original-To", "X-PMRQC",
}

func cleanse(_ context.Context, p *lists.Post) error {
	p.Message.DelFunc(func(f message.Field) bool { return oneOf(f.Name, unwanted) })
	rules.Cleanse(p.Message, p.List)
	if anonymous(p) {
		anonymise(p)
	}
	return nil
}

func oneOf(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
