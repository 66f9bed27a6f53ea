package chains

import (
	"slices"

	"qrunner/lists"
	"qrunner/lists/rules"
)

// Chain is a named way that a post goes: rules in order, or an end.
type Chain struct {
	// Name is Mailman's name of the chain.
	Name string
	// Rules are asked in order; nil: this is an end.
	Rules []rules.Rule
	// Action is what an end means, unless the hit that led here says it itself.
	Action lists.Action
	// Doc is one sentence for the manual.
	Doc string
}

// Table is every chain there is.
var Table = []Chain{
	{"default-posting-chain", rules.Posting, "", "Posts to the list."},
	{"owner", rules.Owner, "", "Mail to the list's owners."},
	{"accept", nil, lists.ActionAccept, "The post is distributed."},
	{"hold", nil, lists.ActionHold, "The post waits for a moderator."},
	{"reject", nil, lists.ActionReject, "The post goes back to its author with the reason."},
	{"discard", nil, lists.ActionDiscard, "The post is dropped; nobody is told, the trace says so."},
	{"moderation", nil, lists.ActionHold, "What the author's moderation action says."},
	{"dmarc", nil, lists.ActionReject, "What dmarc_mitigate_action says: reject or discard."},
}

// Find looks a chain up by name.
func Find(name string) (Chain, bool) {
	i := slices.IndexFunc(Table, func(c Chain) bool { return c.Name == name })
	if i < 0 {
		return Chain{}, false
	}
	return Table[i], true
}

// For is the chain that mail to this address goes through.
func For(t lists.Target) Chain {
	name := "default-posting-chain"
	if t.Sub == lists.SubOwner {
		name = "owner"
	}
	c, _ := Find(name)
	return c
}
