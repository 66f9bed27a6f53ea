// Package bounces reads what mail systems answer to a list: bounces, complaints and
// automatic replies. It says per recipient what became of a copy, why, and who is to
// blame. Nothing here keeps state: scores are somebody else's business.
//
// Scan asks the detectors of a literal table in order: machine-readable reports
// first (RFC 3464, RFC 5965, RFC 6533), then one detector for each family of mail
// systems that writes for people only. An address is reported when it stands where
// that family puts failed recipients, never because it occurs somewhere in the text.
//
// ClassifyReply judges a reply of an SMTP server by the same tables.
package bounces
