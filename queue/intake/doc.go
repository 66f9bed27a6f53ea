// Package intake takes mail from the MTA: an LMTP server (RFC 2033), an SMTP server
// (RFC 5321) and the pipe. All three end in one enqueue path that stores the message
// and only then answers.
//
// What is promised:
//
//   - 250, or exit 0, is given after Put returned, that is, when the entry is durable.
//   - Nothing here judges a message: repeats, loops, bad MIME and missing senders are
//     stored and left to the list's holder. Refused are only addresses of no list,
//     and what is over a limit.
//   - No fault of ours is a permanent refusal. Whatever error Put or Resolve return,
//     plain, wrapped or typed, becomes 451 4.3.0 (452 4.3.1 if space ran out), exit
//     75. The only exceptions are lists.ErrNoList from Resolve, without any sign of
//     trouble in the same error, and the answers made in this package.
//
// # Octets
//
// What is stored is what came after DATA with the dots unstuffed, octet for octet:
// NUL, 8-bit header fields, bare CR, bare LF and long lines stay as they are. The
// end of the data is CR LF "." CR LF and nothing else, so that a bare LF or CR
// around a dot can end no message here (SMTP smuggling), and a dot is removed only
// behind CR LF. Whoever sends stored octets on has to see to their line ends.
//
// The pipe gets local line ends: each LF that has no CR before it is stored as CR
// LF, and one leading mbox line ("From sender date") is removed. Input that is empty
// or ends in mid-line was cut off: exit 75.
//
// No Received field is added to the stored octets. What it would say stands in the
// entry's envelope (source, time, trace), from which the outgoing side can make it.
//
// # SMTP
//
// LMTP answers for each recipient. SMTP has one answer for all, so a transaction is
// for one target; others get 452 4.5.3 and are sent again by the client.
// CHUNKING (RFC 3030) is not offered: the library takes a chunk that a lost
// connection cut short for a complete one.
package intake
