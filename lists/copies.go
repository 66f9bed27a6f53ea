package lists

// Copies says how the copies of a post differ from each other. The zero value: not at
// all, everybody gets the same octets. It is part of a fan-out's file: every host makes
// the same copies of it.
type Copies struct {
	// Gaps are places in the body with text for each recipient, in order of At.
	Gaps []Gap
	// Full: To names the recipient.
	Full bool
	// OneClick: List-Unsubscribe has a URL that takes this recipient off (RFC 8058).
	OneClick bool
	// Keys sign each copy, by their names in the DNS (selector._domainkey.domain). Empty
	// if all copies are alike: then the message is signed already, if at all.
	Keys []string
	// Checked is the Authentication-Results value that each copy is sealed with (ARC); ""
	// for no seal.
	Checked string
}

// Differ reports whether each recipient gets octets of its own.
func (c *Copies) Differ() bool { return c.Full || c.OneClick || len(c.Gaps) > 0 }

// Gap is a place in a body that each recipient's copy fills for itself. The body's octets
// go on behind it as if it were not there; so what a gap puts in must begin where, in the
// part's transfer encoding, something new may begin (for quoted-printable and base64: a
// line), and end so as well.
type Gap struct {
	// At is where it is in the body, in octets.
	At int
	// Encoding is the transfer encoding that the text gets: quoted-printable, base64, or
	// anything else for none. Charset is what it is encoded in before that; a character
	// that the charset lacks becomes "?".
	Encoding, Charset string
	// Text is UTF-8 with CRLF line ends. $name and ${name} stand for the recipient's
	// values (personal.Vars); $$ is a dollar sign.
	Text string
	// Before and After are octets that share the gap's encoded lines: the author's, in
	// base64.
	Before, After []byte
}
