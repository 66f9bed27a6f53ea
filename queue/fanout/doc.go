// Package fanout sends a message to its recipients: the queues out and retry.
//
// A fan-out is a folder. Several hosts work on it at once, range by range of its
// recipients file, and any of them may die at any step.
//
//	queue/out/<list>/<entry>/
//	    message, recipients       written once, before the folder got its name
//	    journal.<range>.<n>       what became of a range's recipients; one owner each
//	    child.<range>.<queue>.<id>  a bounce event or report that is not published yet
//	    open.<k>                  round k has begun (round 1 needs no mark)
//	    round.<k>                 round k is over: wait until <due>, or go to shunt
//	    finished                  nobody is left: the folder goes away
//
// A claim is a lease on out/<entry>/<range> and, behind it, a journal with the next
// number, made by put-if-absent: whoever finds a higher number than its own, or one
// missing below, withdraws. The key never moves with the folder, so that a sleeper
// and its successor always meet. A recipient that one journal calls sent, bounced,
// judged, expired or left is closed for ever, whatever later lines say.
//
// Results are appended and synced in groups: one sync, and one look whether the
// claim is still ours, serve all connections that wait (journal.go). A connection
// begins its next transaction when its last result is on stable storage and the
// claim was seen after that; so a crash can repeat one transaction per connection,
// and its journal's start lines tell which.
//
// Marks decide, renames follow: a mark is made by put-if-absent, and whoever sees it
// carries the rename out, as often as it takes. So the same folder can be moved by
// a host that slept for an hour without harm: the marks inside bring it back.
//
// A folder leaves out/ whole: to queue/retry/<due>.<entry> until its next round, to
// queue/shunt/<list>/<entry> when nobody gets on with it (Park does it on request,
// Reopen undoes it), or to queue/done/<entry> to be deleted.
//
// Bounce events and reports (children) are made inside the folder under a name
// derived from (entry, recipient, kind), journaled, and published by rename:
// journaled and gone means published.
package fanout
