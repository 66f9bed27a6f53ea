// Package simfs is a simulated NFS server with several hosts looking at it, for
// tests: each Host is an fsys.FS with caches of its own that lie the way the Linux
// client's were measured to lie.
//
// Without a Scheduler a call runs at once, in any test. With one, inside a
// testing/synctest bubble, every call of every host parks at a gate; when all
// goroutines are blocked the Scheduler picks the call that goes next, and when
// nothing is parked the bubble's time advances. One seed then gives one run, byte
// for byte. Faults (lost answers, late duplicates, errors, stalls, crashes, power
// cuts) are scripted with Fault, by seed, or by the Scheduler.
//
// What a client believes follows from three caches, kept as Linux keeps them:
// attributes by file handle, for AttrMin to AttrMax (folders: DirMin to DirMax),
// doubling while nothing changes; names, missing ones included, for as long as the
// folder's attributes look unchanged; listings likewise, but asked for anew at
// each opening. On V3 "unchanged" means the same timestamps and size, so that two
// changes within one MtimeGrain are one. Opening a cached name asks for the
// attributes of the file that was cached, not for the name.
//
// Not modelled: permissions, symbolic links, byte-range locks, delegations,
// several file systems, and a process stopped between two calls.
package simfs
