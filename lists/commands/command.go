package commands

import (
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
	"qrunner/lists/subscribe"
)

// Command is a row of a table.
type Command struct {
	// Name is the word, or the words, that somebody writes on a line.
	Name string
	// Text says that words may follow behind a colon, for other people to read.
	Text bool
	// Run says what shall come of it. An error is for whoever asked, in words (*Refusal),
	// or else trouble.
	Run func(*Request) (Result, error)
	// Doc is half a sentence for notices and the manual.
	Doc string
}

// Request is what a command is asked about.
type Request struct {
	State *store.State
	// Post is the held post that is meant.
	Post store.HeldPost
	// Author is who wrote it; null unless it is exactly one readable address.
	Author mailaddr.Address
	// Text is what followed the command.
	Text string
}

// Result is what a command decided.
type Result struct {
	// Held is what becomes of the held post; ActionDefer: it goes on waiting.
	Held lists.Action
	// Reason goes to the poster of a post that is rejected.
	Reason string
	// Changes come in the same commit.
	Changes []store.Change
}

// Refusal is why a command is not carried out, for whoever asked.
type Refusal = subscribe.Refusal

func refuse(format string, args ...any) error { return &Refusal{Why: fmt.Sprintf(format, args...)} }

// Refused says why, if err is a refusal.
func Refused(err error) (string, bool) {
	r, ok := errors.AsType[*Refusal](err)
	if !ok {
		return "", false
	}
	return r.Why, true
}

// author is the one author that a command is about.
func (r *Request) author() (mailaddr.Address, error) {
	if r.Author.Null() {
		return "", refuse("the post has no author, or several, so it is not clear whom this is about; use qrunner member and qrunner held")
	}
	return r.Author, nil
}
