// Package hosts registers the machines that share a directory tree, so that a host's
// name means one machine, and says who is there.
//
// A registration is a file <dir>/<host>, put there by link(2), with the machine's
// boot id and 64 random bits in it. It is kept fresh by setting the mtime to the
// server's time through a second, private name, so that a host which lost its
// registration never refreshes the successor's.
package hosts
