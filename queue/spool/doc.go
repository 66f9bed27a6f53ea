// Package spool is the directory protocol of the queues: how entries are put,
// found, read, handed on and removed on a share that several hosts use at once.
//
//	queue/<queue>/<list>/<entry>    an entry: one readable file (entry.go)
//	queue/out/<list>/<entry>/       a fan-out: message, recipients, journals (fanout.go)
//	queue/retry/<due>.<entry>/      a fan-out that waits (name.go)
//	queue/stage/<list>/<incarnation>.<token>.<k>/   children of one attempt
//	queue/tmp/                      files on their way into the spool
//	queue/shunt/<list>/<entry>      parked entries, with their cause
//	queue/bad/<list>/<entry>        what could not be read as an entry; never deleted
//
// Put makes an entry and promises that it is on stable storage. All else is done by
// the holder of a list, through an Attempt: the children of one or several entries
// are staged, one fenced commit to the list's log names them and their sources (a
// hand-over), and only then are they renamed into place and the sources removed.
// Whoever holds the list next finishes hand-overs that are still open (Recover), so
// that a crash anywhere loses nothing and repeats nothing.
package spool
