// Package handlers turns an accepted post into what the recipients get: one file per
// handler, and table.go, which is their order. A handler edits the post and nothing
// else; queue/stage sends what comes of it.
package handlers
