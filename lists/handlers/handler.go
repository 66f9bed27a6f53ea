package handlers

import (
	"context"
	"fmt"

	"qrunner/lists"
)

// Handler is a row of a pipeline.
type Handler struct {
	// Name is Mailman's name of the handler.
	Name string
	// Apply edits the post. An error means that it could not: the post waits, and
	// runs through the whole pipeline again, from the message as it came.
	Apply func(context.Context, *lists.Post) error
	// Doc is one sentence for the manual.
	Doc string
}

// Run applies the handlers for the post's address, in the order of their table.
func Run(ctx context.Context, p *lists.Post) error {
	if p.Target.Sub == lists.SubOwner {
		return apply(ctx, Owner, p)
	}
	if untouched(p) {
		return apply(ctx, Untouched, p)
	}
	return apply(ctx, Posting, p)
}

// RunNotice applies the handlers for mail that qrunner itself wrote.
func RunNotice(ctx context.Context, p *lists.Post) error { return apply(ctx, Virgin, p) }

func apply(ctx context.Context, pipeline []Handler, p *lists.Post) error {
	for _, h := range pipeline {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("handle post: %w", err)
		}
		if err := h.Apply(ctx, p); err != nil {
			return fmt.Errorf("handle post: %s: %w", h.Name, err)
		}
	}
	return nil
}
