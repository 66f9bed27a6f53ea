// Package digest makes one message of many: a MIME digest (multipart/digest, RFC 2046
// §5.1.5), in which each post is whole, and a plain one (RFC 1153), in which each is
// text. No I/O.
package digest
