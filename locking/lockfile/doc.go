// Package lockfile is the NFS-safe lock file: Thomas Wouters' LockFile for Mailman,
// finished. It implements locking.Locker with files alone, for hosts that share a
// directory tree.
//
// # How it works
//
// A claim is a private file with a complete record of who we are. It is linked to the
// lock's name; the lock is ours if the claim, touched and looked at after the call,
// has two links, whatever the call answered. A waiter sleeps for a jittered second
// between tries; at every tenth only does it look at the lock's content, and, when the
// answer is that the name is taken, at its own claim.
//
// A holder refreshes its claim's mtime every fifth of the lifetime. A lock is judged
// abandoned if its lifetime is over by the server's clock (the mtime of our own claim,
// just touched) and we have seen it unchanged for a lifetime by our own clock; or, on
// the holder's own machine, if its process is gone. Whoever judges so takes a
// ticket, a name that link(2) gives to one process per incarnation of the lock,
// looks again, and renames a second name of its claim over the lock: the name is
// never absent, and a replayed rename finds nothing to move. The owner's release goes
// by the same ticket. A ticket whose holder died is overridden by the next number, when it
// is as old as the lock's lifetime and slop, or a minute.
//
// Goroutines of one process queue up, and hand the lock on while it is held, each with
// a grant of its own, for a few grants; then it is released on the share, so that other
// processes and hosts have their chance.
//
// Ownership is: the claim has two links, the deadline is ahead, and, at a grant and in
// Verify, a fresh listing shows our file under the lock's name. The deadline is taken
// on our own clock from before the granting call, less a margin, and once
// passed it never revives.
//
// # Links of a claim at each step
//
//	step                                    names                   links   lock's name on
//	claim written                           claim                   1       -
//	try failed                              claim                   1       another
//	try won, held, refreshed, verified      claim, lock             2       claim
//	break: second name made                 claim, second           2       the dead lock
//	break: renamed over, second removed     claim, lock             2       claim
//	break failed, second removed            claim                   1       another
//	broken by another                       claim                   1       the breaker's
//	broken, lock open on the breaker's host claim, .nfs...          2       the breaker's
//	release: lock removed                   claim                   1       -
//
// A ticket's private file has one link, and two while it has the ticket's name. A claim
// that had a second name and did not become the lock is never tried again.
//
// # What it cannot do
//
// A holder that is stopped in the kernel for longer than its lease, or a late duplicate
// of a remove on NFS before v4.1, can overlap with a successor. The Fencer, and the
// numbered log behind it, is what makes that harmless.
package lockfile
