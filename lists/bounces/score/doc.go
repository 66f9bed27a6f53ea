// Package score decides what bounces mean for a member: points, when delivery is
// disabled, when a warning is due, when somebody is removed. Pure functions: the time is
// that of the event, the settings and what was known before are arguments, and the answer
// is the new Record, the Step that led there, and the Act that the caller has to carry
// out. Nothing is read or kept here.
//
// It is Mailman's scoring: one bounce a day counts, a threshold, warnings at intervals,
// removal. What differs is told in docs/bounces.md.
package score
