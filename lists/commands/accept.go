package commands

import "qrunner/lists"

func accept(*Request) (Result, error) { return Result{Held: lists.ActionAccept}, nil }
