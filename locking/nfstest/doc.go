// Package nfstest is the tests of the lock file that run inside machines which mount one
// NFS export: real kernels with their own caches, clocks and faults. It is built with
// "CGO_ENABLED=0 go test -c"; .ci/nfs starts the machines, runs the parts in them and
// does the faults. Run anywhere else its tests skip.
//
// The parts talk through files in a folder that all machines have beside the export.
// What they do under the lock is to append to a numbered log, as list states do; the
// log is the judge afterwards: no number is taken twice, no grant's record follows
// a later grant's, and what was reported done is there.
package nfstest
