// Package queue has the words of the mail queues: entry, envelope, outcome, and the
// contracts between the spool that keeps entries, the stages that process them and
// the runner that decides whose turn it is. Types only; the packages below do the
// work.
//
// The route of a post: intake puts an entry into "in"; the stage in judges it; an
// accepted post goes through the handlers at once and becomes a fan-out in "out"
// and copies in "archive" and "digest"; the stage out sends it. Whatever a stage
// decides takes effect by one commit to the list's log (lists/store), which names
// the entry and everything that comes of it; then the files are renamed into place.
package queue
