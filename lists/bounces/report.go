package bounces

import "qrunner/lists/mailaddr"

// Kind is what a message to a bounces address is.
type Kind string

// The kinds. Only a Bounce says anything about deliveries.
const (
	// Bounce: a report on a delivery. Without recipients if it names none that we can read.
	Bounce Kind = "bounce"
	// Complaint: a feedback report (RFC 5965): a person or a receiver marked the copy.
	Complaint Kind = "complaint"
	// AutoReply: vacation notes, acknowledgements, read receipts: the copy arrived.
	AutoReply Kind = "auto-reply"
	// Challenge: a mailbox that asks its correspondents to confirm: the copy waits.
	Challenge Kind = "challenge"
	// NotABounce: anything else, such as spam or a letter from a person.
	NotABounce Kind = "not-a-bounce"
)

// Class is what a result means for the recipient's address.
type Class string

// The classes. Hard: the address does not work (no such user, no such host, moved,
// takes no mail). Soft: this copy did not get through; the address may be good.
// Complained: the recipient does not want the mail. None: no failure.
const (
	Hard       Class = "hard"
	Soft       Class = "soft"
	Complained Class = "complaint"
	None       Class = "none"
)

// Report is what Scan found in a message.
type Report struct {
	Kind Kind `json:"kind"`
	// Recipients has each address once, in the order of the message.
	Recipients []Result `json:"recipients,omitempty"`
	// VERP is what the address says that the report came to; zero if it is none of ours
	// that names a recipient. A token has to be looked up: see VERP.Member and Names.
	VERP mailaddr.VERP `json:"-"`
	// List is the list-id (RFC 2919) of the copy that the report returns, in lower case; ""
	// if it returns none, or one without.
	List string `json:"list,omitempty"`
}

// Result is what became of one recipient's copy.
type Result struct {
	// Address is the recipient: whom the VERP address names, else the original recipient of
	// the report, else the final one. Null in a complaint that hides it. A token names
	// nobody by itself: see Report.VERP.
	Address mailaddr.Address `json:"address"`
	// Alias is another address of the same recipient that the report shows: what Address
	// was made from or forwarded to. Either may be the one that we know.
	Alias mailaddr.Address `json:"alias,omitempty"`
	Class Class            `json:"class"`
	// Permanent: the mail system gave up. False in a warning that it still tries.
	Permanent bool `json:"permanent"`
	// Policy: the message, its sender or our host was refused, not the recipient; says
	// nothing about the address and must not be scored (RFC 7960 §4.1.3.3).
	Policy bool   `json:"policy"`
	Reason Reason `json:"reason"`
	// Status is the enhanced status code (RFC 3463), "" if there is none.
	Status string `json:"status,omitempty"`
	// Reply is the SMTP reply code, 0 if there is none.
	Reply int `json:"reply,omitempty"`
	// Action is the report's action in lower case (RFC 3464 §2.3.3), "" if there is none.
	Action string `json:"action,omitempty"`
	// Diagnostic is the text that the verdict rests on: one line of valid UTF-8, at most
	// MaxDiagnostic octets.
	Diagnostic string `json:"diagnostic,omitempty"`
	// Detector is the row of the table that found it.
	Detector string `json:"detector"`
}

// MaxDiagnostic bounds Result.Diagnostic, in octets.
const MaxDiagnostic = 1000
