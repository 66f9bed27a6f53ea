package commands

import "qrunner/lists"

func discard(*Request) (Result, error) { return Result{Held: lists.ActionDiscard}, nil }
