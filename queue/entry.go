package queue

import (
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// Entry is a message in a queue with what the queue must know of it. On disk it is
// one file that a person can read (queue/spool has the format).
type Entry struct {
	ID    ID
	Queue Name
	List  lists.ID
	Envelope
	Meta Meta
	// Raw is the message as received, octet for octet.
	Raw []byte
}

// Envelope is what the MTA said about a message.
type Envelope struct {
	// Sender is the reverse-path; null for reports.
	Sender mailaddr.Address
	// Target is the recipient address as we understood it.
	Target lists.Target
	// Received is when intake (or the stage that made the message) took it, by
	// the server's clock.
	Received time.Time
	// Source says how it came: "lmtp 192.0.2.1", "smtp ...", "pipe", "internal".
	Source string
	// UTF8 and EightBit are what MAIL announced: SMTPUTF8 (RFC 6531), BODY=8BITMIME
	// (RFC 6152).
	UTF8, EightBit bool
	// Trace names the message in logs, from intake to each recipient.
	Trace string
}

// Meta is what stages tell later stages. Zero values are left out on disk.
type Meta struct {
	// Recipients is for notices (queue virgin): who gets this message.
	Recipients []lists.Recipient
	// Approved says that a moderator or an operator let the post pass; the rules'
	// verdict is then accept. ApprovedBy names who.
	Approved   bool
	ApprovedBy string
	// PostID is the number of an accepted post, 0 before.
	PostID uint64
	// Cause, Count, First and Last are for shunt: why, how often, when.
	Cause       string
	Count       int
	First, Last time.Time
	// From is the queue that a shunted entry was in and goes back to.
	From Name
	// Web is for entries that the web pages made, in the queue command: what a token that
	// was shown there stands for ("leave 12": member 12; "confirm TOKEN").
	Web string
	// Archiver is for entries that the stage archive made, in its own queue: the destination
	// that is left to do ("command").
	Archiver string
	// Bounce is for entries that the stage out made: the report of one recipient.
	Bounce *Bounce
}

// Bounce is one recipient's permanent failure, as the stage out saw it.
type Bounce struct {
	Recipient lists.Recipient
	Reply     string // "550 5.1.1 no such user"
	Phase     string // "rcpt", "data", "expired"
}
