// Package retry says what a smarthost's reply means and when to try again. Pure
// functions: no I/O, no clock, no state.
//
// The rule behind all of it: no fault of ours, of the smarthost or of the way there
// becomes a member's bounce, and what is not understood is temporary.
package retry
