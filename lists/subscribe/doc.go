// Package subscribe is what happens between somebody's wish to join, leave or change
// something and its fulfilment: policy, bans, tokens, moderators, limits on mail to those
// who never asked. It looks at a list's state and answers what shall change and who shall
// be written to; nothing is changed or sent here.
//
// Whoever asks proves nothing: the From of a mail can be forged. What proves is that a
// token comes back that was sent to the address concerned. So a request opens a pending
// one (store.Pending), and Confirm, with its token, carries it out or puts it before the
// moderators, whose decision comes to Decide.
package subscribe
