// Package zktest is a ZooKeeper ensemble in memory, for tests: the wire protocol over
// net.Pipe, the operations a lock needs, ephemeral and sequential nodes, watches,
// sessions that expire, followers that lag, and faults on demand. It runs inside a
// testing/synctest bubble. It keeps no ACLs and elects no leaders.
//
// A write goes to one log. Every server replays it into a tree of its own: at once,
// or, while it lags, not before a write of its own client or a sync makes it.
package zktest
