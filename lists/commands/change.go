package commands

import "qrunner/lists/subscribe"

// change asks the old address first, then the new one.
func change(a *Asked) (subscribe.Result, error) {
	if len(a.args()) != 1 {
		return subscribe.Result{}, refuse("it takes one address, the new one")
	}
	was, err := a.about("")
	if err != nil {
		return subscribe.Result{}, err
	}
	now, err := a.about(a.args()[0])
	if err != nil {
		return subscribe.Result{}, err
	}
	return a.Request(subscribe.Change(was, now))
}
