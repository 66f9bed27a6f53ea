// Package archive keeps a list's posts: a maildir per month below the list's folder,
// files that are written once and never changed.
//
//	lists/<list>/archive/2024-01/cur/<entry>:2,S
package archive

import (
	"bytes"
	"path"
	"time"

	"qrunner/lists/message"
)

const (
	folder = "archive"
	month  = "2006-01"
	// seen is the maildir flag for "read": nobody's mailer shall count the archive as new.
	seen = ":2,S"
)

// Name is where a post that came at that time goes, relative to the list's folder.
// Names of entries sort by time, so a month's listing is its order.
func Name(received time.Time, entry string) string {
	return path.Join(folder, received.UTC().Format(month), "cur", entry+seen)
}

// Clean is a message as it is archived: LF line ends, without NUL.
func Clean(raw []byte) []byte {
	return bytes.ReplaceAll(message.LF(raw), []byte{0}, nil)
}

// Inbox is where a post goes, relative to the list's folder, for a program that watches
// one maildir. Whoever takes it away from there takes nothing from the archive.
func Inbox(entry string) string { return path.Join(folder, "inbox", "new", entry) }
