package commands

import (
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

func leave(a *Asked) (subscribe.Result, error) {
	opts, err := a.options("address")
	if err != nil {
		return subscribe.Result{}, err
	}
	who, err := a.about(opts["address"])
	if err != nil {
		return subscribe.Result{}, err
	}
	return a.Request(subscribe.Ask{Kind: store.PendingLeave, Address: who})
}
