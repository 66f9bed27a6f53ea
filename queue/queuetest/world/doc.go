// Package world is the whole system in one process: hosts that run intake, runner and
// sender over a simulated share, a smarthost that misbehaves, clients that post,
// an administrator, and a book of what was promised to whom.
//
// A World lives inside a testing/synctest bubble, and time passes only when all of it
// is waiting. Everything that goes wrong is drawn from one seed; a run with
// Config.Gated also lets one file-system call through at a time, in an order that
// the seed decides. What the Go scheduler and the channels do between two calls is
// not the seed's: a failing seed fails again nearly always, not by proof.
//
// The package is apart from queuetest because it needs locking/simfs and thus package
// testing, which must not get into a program that only wants the Sink.
package world
