package rules

import (
	"context"

	"qrunner/lists"
)

// truth ends a chain. It is no finding, so it names itself and is not noted.
func truth(context.Context, *lists.Post) (*lists.Hit, error) {
	return &lists.Hit{Rule: "truth", Reason: "no rule objected"}, nil
}
