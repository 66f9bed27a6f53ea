package bounces

// Reason is why a copy did not get through.
type Reason string

// The reasons. Those of the first group make a bounce hard.
const (
	UserUnknown Reason = "userunknown" // no such mailbox
	HostUnknown Reason = "hostunknown" // no such domain or host
	HasMoved    Reason = "hasmoved"    // the recipient is elsewhere now
	NotAccept   Reason = "notaccept"   // the domain takes no mail (null MX, no MX at all)

	MailboxFull Reason = "mailboxfull" // over quota
	Suspend     Reason = "suspend"     // mailbox disabled, locked or inactive
	Filtered    Reason = "filtered"    // taken at RCPT, refused later: forwarding or a filter of the recipient's
	Expired     Reason = "expired"     // no answer until the queue time was over
	NetworkErr  Reason = "networkerror"
	SystemErr   Reason = "systemerror" // the receiving host is broken
	SystemFull  Reason = "systemfull"  // its disk is full
	MailerErr   Reason = "mailererror" // the recipient's delivery program failed
	SyntaxErr   Reason = "syntaxerror" // address or command not understood
	OnHold      Reason = "onhold"      // a reason is given, none that we know
	Undefined   Reason = "undefined"   // no reason is given

	AuthFailure     Reason = "authfailure"     // SPF, DKIM or DMARC
	BadReputation   Reason = "badreputation"   // of our address or domain
	Blocked         Reason = "blocked"         // our host is listed or refused
	ContentErr      Reason = "contenterror"    // the message's form
	ExceedLimit     Reason = "exceedlimit"     // larger than the recipient may get
	FailedSTARTTLS  Reason = "failedstarttls"  // no TLS with that host
	MesgTooBig      Reason = "mesgtoobig"      // larger than the host takes
	NoRelaying      Reason = "norelaying"      // the host does not know the domain
	NotCompliantRFC Reason = "notcompliantrfc" // header fields twice, and so on
	PolicyViolation Reason = "policyviolation" // local policy, not specified
	Rejected        Reason = "rejected"        // the sender's address
	RequirePTR      Reason = "requireptr"      // reverse DNS of our host
	SecurityErr     Reason = "securityerror"   // not authorised
	SpamDetected    Reason = "spamdetected"
	Speeding        Reason = "speeding"    // too much mail for one recipient
	TooManyConn     Reason = "toomanyconn" // too many connections, recipients or messages
	VirusDetected   Reason = "virusdetected"

	Delivered Reason = "delivered" // a report of success
	Feedback  Reason = "feedback"  // a complaint
	Vacation  Reason = "vacation"  // an automatic reply
	Confirm   Reason = "challenge" // a challenge
)

// policy has the reasons that blame the message, its sender or our host.
var policy = map[Reason]bool{
	AuthFailure: true, BadReputation: true, Blocked: true, ContentErr: true, ExceedLimit: true, FailedSTARTTLS: true,
	MesgTooBig: true, NoRelaying: true, NotCompliantRFC: true, PolicyViolation: true, Rejected: true, RequirePTR: true,
	SecurityErr: true, SpamDetected: true, Speeding: true, TooManyConn: true, VirusDetected: true,
}

// Policy reports whether r blames the message, its sender or our host: it says
// nothing about the recipient's address.
func (r Reason) Policy() bool { return policy[r] }

// class judges a failure. A status of class 4 is never hard, even when the sending
// host gave up: a full queue or a week without network is no dead address.
func class(r Reason, statusClass byte, permanent bool) Class {
	switch r {
	case Delivered, Vacation, Confirm:
		return None
	case Feedback:
		return Complained
	case UserUnknown, HostUnknown, HasMoved, NotAccept:
		if permanent && statusClass != '4' {
			return Hard
		}
	}
	return Soft
}
