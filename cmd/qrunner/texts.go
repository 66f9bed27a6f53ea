package main

import (
	"context"

	"qrunner/lists"
	"qrunner/lists/templates"
)

// text is a notice of the stage out to people of a list; where the list is gone, as the
// site has it.
func (h *house) text(ctx context.Context, id lists.ID, name templates.Name, vars templates.Vars) (templates.Text, error) {
	l := &lists.List{ID: id, Settings: lists.Resolve(h.levels(id)...)}
	if st, err := h.store.Read(ctx, id); err == nil {
		l = st.List()
	}
	return h.texts.Render(ctx, l, name, "", vars)
}
