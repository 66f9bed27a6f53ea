// Package smtpout is the outgoing SMTP client: a pool of connections to the site's
// smarthost that implements queue.Transport.
//
// A transaction costs two round trips where PIPELINING is announced (RFC 2920): MAIL,
// every RCPT and DATA leave in one write, the message and its final dot in another.
// Each recipient gets a reply of its own. Whatever is not understood, a reply that
// is no SMTP, too long or out of turn, counts as a broken connection, and a broken
// connection is a Reply without a code: temporary.
//
// What a smarthost lacks is handled so:
//   - PIPELINING: one command at a time.
//   - 8BITMIME (RFC 6152): a message with 8-bit octets is sent as it is. To re-code
//     it would break its signatures, to refuse it would bounce mail that nearly
//     every server takes.
//   - SMTPUTF8 (RFC 6531): who needs it gets 550 5.6.7 without being tried.
//   - SIZE (RFC 1870): a message over the announced limit gets 552 5.3.4 likewise.
//   - ESMTP: HELO instead of EHLO, unless TLS or AUTH is required.
//
// Failures before the reply to MAIL are the smarthost's: each host has a breaker that
// counts them and, once open, makes Acquire fail at once with the time to wait. From
// that reply on they are the message's, and the breaker does not look at them.
package smtpout
