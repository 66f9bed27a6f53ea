package lists

import "context"

// DMARCPolicy is what a domain asks receivers to do with mail that fails DMARC.
type DMARCPolicy string

// The policies of RFC 7489 §6.3. A domain that publishes nothing counts as none.
const (
	DMARCNone       DMARCPolicy = "none"
	DMARCQuarantine DMARCPolicy = "quarantine"
	DMARCReject     DMARCPolicy = "reject"
)

// DMARC tells what mail domains publish. Any goroutine may ask.
type DMARC interface {
	// Policy is the policy in force for mail with this domain (lower case, A-labels) in
	// From: its own or that of the organisational domain above it. An error means that
	// it could not be found out now; the caller says what that means.
	Policy(ctx context.Context, domain string) (DMARCPolicy, error)
}
