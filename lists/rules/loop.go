package rules

import (
	"context"
	"strings"

	"qrunner/lists"
)

// maxHops is when RFC 5321 §6.3 lets us call it a loop.
const maxHops = 100

// loop looks for the marks that the handlers put on each copy, and for nothing that
// others may put on the first delivery already (Delivered-To, List-Post).
func loop(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if h := beenThere(p); h != nil {
		return h, nil
	}
	// Two lists can have the same List-Id (a.b@c.org and a@b.c.org). X-BeenThere, which
	// nobody takes off, tells them apart.
	if !p.Message.Has("X-BeenThere") && strings.EqualFold(listID(p.Message.Get("List-Id")), p.List.ID.ListID()) {
		return hit("List-Id is ours: %s", p.List.ID.ListID())
	}
	return tooManyHops(p), nil
}

func ownerLoop(_ context.Context, p *lists.Post) (*lists.Hit, error) {
	if h := beenThere(p); h != nil {
		return h, nil
	}
	return tooManyHops(p), nil
}

func beenThere(p *lists.Post) *lists.Hit {
	mark := p.LoopMark()
	for _, v := range p.Message.All("X-BeenThere") {
		if strings.EqualFold(v, mark) {
			return &lists.Hit{Reason: "X-BeenThere names " + mark}
		}
	}
	return nil
}

func tooManyHops(p *lists.Post) *lists.Hit {
	if len(p.Message.All("Received")) < maxHops {
		return nil
	}
	return &lists.Hit{Reason: "it has been through a hundred hosts (Received)"}
}

// listID is what stands between the last angle brackets of a List-Id (RFC 2919 §3).
func listID(v string) string {
	v = v[strings.LastIndexByte(v, '<')+1:]
	v, _, _ = strings.Cut(v, ">")
	return strings.TrimSpace(v)
}
