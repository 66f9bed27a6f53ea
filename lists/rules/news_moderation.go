package rules

import (
	"context"

	"qrunner/lists"
)

// newsModeration never has a hit: there is no gateway to Usenet. The name stands in the
// chain so that headers and settings that came from Mailman keep their meaning.
func newsModeration(context.Context, *lists.Post) (*lists.Hit, error) { return nil, nil }
