// Package stage has the stages: what each queue does with an entry. Mailman's runners,
// one file each; table.go names them. A stage looks at one entry under the list's
// lock and answers with an outcome; nothing happens before the spool has committed
// that.
//
//	in        judges posts and mail to the owners: accepted, held, rejected, discarded, repeated
//	pipeline  distributes what a moderator let pass
//	virgin    sends mail that qrunner itself wrote
//	command   carries out what moderators answer to notices
//	bounces   scores what came back; disables, warns, probes, removes
//	archive   files a post in the list's archive
//
// Tasks is the work that time brings: posts that were held for too long, the daily
// summary for the moderators.
package stage
