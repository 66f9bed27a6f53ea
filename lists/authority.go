package lists

import "context"

// Authority finds out who sent a post, and signs what the list makes of it. Any
// goroutine may ask. Errors are ErrTrouble: the post waits.
type Authority interface {
	// Check puts what was found out on top of the message, as Authentication-Results
	// (RFC 8601) under the list's own name, and takes off what others forged under that
	// name. Before any change of the message. That the DNS does not answer is a
	// result, no error.
	Check(context.Context, *Post) error
	// Aligned reports whether the post, as it stands, has a valid signature (DKIM) over
	// the whole body for that domain of an author. That it cannot be found out now is an
	// error.
	Aligned(ctx context.Context, p *Post, domain string) (bool, error)
	// Sign gives the message its wire form and the list's signatures. After every
	// change of the message.
	Sign(context.Context, *Post) error
}
