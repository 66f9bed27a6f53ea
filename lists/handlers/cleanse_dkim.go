package handlers

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/message"
)

func cleanseDKIM(_ context.Context, p *lists.Post) error {
	if p.List.Settings.Bool("remove_dkim_headers") {
		names := []string{"DKIM-Signature", "DomainKey-Signature", "Authentication-Results"}
		p.Message.DelFunc(func(f message.Field) bool { return oneOf(f.Name, names) })
	}
	return nil
}
