// Package queuetest is what tests, benchmarks and the demo need around the queues.
//
// Sink is an SMTP server that plays the smarthost: it takes mail, counts who got what
// how often, and misbehaves where a script says so. The package does not import
// testing, so that it can be part of a program.
package queuetest
