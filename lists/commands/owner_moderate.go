package commands

import (
	"strings"

	"qrunner/lists/subscribe"
)

// moderateMember says what becomes of somebody's posts.
func moderateMember(a *Asked) (subscribe.Result, error) {
	return a.wish("moderate " + strings.Join(a.args(), " "))
}

// unmoderateMember lets somebody post like others.
func unmoderateMember(a *Asked) (subscribe.Result, error) {
	if len(a.args()) != 1 {
		return subscribe.Result{}, refuse("it takes one address")
	}
	return a.wish("moderate " + a.args()[0] + " defer")
}

// banAddress keeps somebody from posting and joining.
func banAddress(a *Asked) (subscribe.Result, error) {
	return a.wish("ban " + strings.Join(a.args(), " "))
}

// unbanAddress takes that back.
func unbanAddress(a *Asked) (subscribe.Result, error) {
	return a.wish("unban " + strings.Join(a.args(), " "))
}

// emergency has every post held, or no longer.
func emergency(a *Asked) (subscribe.Result, error) {
	value, ok := map[string]string{"on": "yes", "off": "no"}[strings.ToLower(strings.Join(a.args(), " "))]
	if !ok {
		return subscribe.Result{}, refuse("it takes on or off")
	}
	return a.wish("set emergency " + value)
}
