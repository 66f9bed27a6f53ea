// Package lists has the words of a mailing-list manager: list, member, settings,
// sub-address, verdict. Types and contracts only, no I/O; the packages below it
// do the work.
package lists
