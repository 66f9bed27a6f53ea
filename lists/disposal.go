package lists

// Disposal is the error of a handler that found that an accepted post must not go to the
// members after all. It is an outcome, not a fault: the stage does what Action says.
type Disposal struct {
	// Handler is the name of the handler, for the trace.
	Handler string
	// Action is a value of the setting filter_action.
	Action string
	// Reason says why, for people.
	Reason string
}

// Error is the reason, with the handler's name.
func (d *Disposal) Error() string { return d.Handler + ": " + d.Reason }
