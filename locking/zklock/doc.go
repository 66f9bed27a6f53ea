// Package zklock is the ZooKeeper lock, exclusive and shared. It implements
// locking.Locker for sites that run an ensemble, or need a faster take-over than a
// lock file's lifetime gives.
//
// # How it works
//
// A lock is a container node. A contender creates an ephemeral sequential child
// whose name begins with 128 random bits, lists the children, and holds the lock if no
// child with a lower number stands in its way: any child for an exclusive one, the
// exclusive ones for a shared one. If one does, it watches the nearest such child,
// and no other; when that goes, it lists again. So a release wakes one waiter, and
// waiters are served in the order of their coming. Giving the lock back deletes the
// node. Numbers are compared as they wrap, from 2147483647 to -2147483648.
//
// A create whose answer was lost is found again by its random bits, and taken for ours
// only if it belongs to the session that we have now: a node of our dead session
// still stands for a while, and is nobody's. A node whose fate is not known is
// followed up in the background until it is certainly gone.
//
// # Why a lease ends in time
//
// All leases of a process live in one session. Its leader ends a session that it has
// heard nothing of for the session's timeout, T. What it knows may be old: the client
// sends a sign of life every third of T, and a server passes on what it heard of
// its clients at the leader's next ping. An answered write proves that the session
// lived, for the leader and a majority; so a lease ends half of T after such a
// write was sent, at a time when the leader cannot have given up yet. As long as there
// are leases or waiters, a keeper sends an empty transaction every sixth of T. One that
// is not answered within a sixth of T makes it turn to another server. A read, or a
// sync, would prove less: a server that has lost its leader goes on answering reads.
//
// A holder whose process was stopped, or whose server was cut off, is thus told
// before anyone else can have the lock, by its own clock. It may still be in the middle
// of something; the Fencer, and the numbered log behind it, is what makes that harmless.
//
// # What it does not do
//
// It does not turn shared into exclusive or back. The numbers of nodes are no fencing
// tokens: they start again when the container goes, and wrap.
package zklock
