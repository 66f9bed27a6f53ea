package commands

import (
	"strings"

	"qrunner/lists/subscribe"
)

func echo(a *Asked) (subscribe.Result, error) {
	return answered("echo", "echo "+shown(strings.Join(a.args(), " ")))
}

// end says nothing; that nothing is read below it is in its row.
func end(*Asked) (subscribe.Result, error) { return answered("end") }
