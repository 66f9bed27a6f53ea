// Package e2e has the tests of the whole: the real binary, on real file systems and
// loopback, with real peers (Postfix) where they are installed. Each test is one of
// the promises that the manual makes. It has no code of its own.
package e2e
