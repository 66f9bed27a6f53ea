// Package store keeps the state of lists on the share: roster, settings, held
// posts, open hand-overs.
//
// A list's state is a log of small numbered files. Record n+1 is published with
// link(2), which fails if n+1 is there, so that of two hosts that both believe to
// hold the list one is refused: every grant of the list's lock begins with a fence
// record, and a commit counts only if it stands right behind its author's previous
// record. The log is also the audit trail. Snapshots make loading short; they are
// a pure function of the log.
//
//	lists/<list>/generation.<20 digits>   which incarnation is current; the highest counts
//	lists/<list>/<incarnation>/log/       numbered records
//	lists/<list>/<incarnation>/snapshot/  state at record n
//	lists/<list>/<incarnation>/side/      bulk changes that a record names
//	lists/<list>/<incarnation>/history/   what log records of the past changed, for the audit trail
//	lists/<list>/<incarnation>/tmp/       files that are being written
//
// A list is read by anybody with Store.Read and changed by a Holder:
//
//	h, err := s.Lock(ctx, id, "subscribe")
//	...
//	err = h.Commit(ctx, store.By{Actor: "anna", Reason: "by mail"}, store.AddMember{Member: m})
//	...
//	err = h.Release(ctx)
package store
