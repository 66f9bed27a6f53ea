package store

import (
	"errors"
	"fmt"
	"time"
)

// HeldPost is a post that waits for a moderator. Its message is a file of the
// list, which exists only while the state names it.
type HeldPost struct {
	ID        string    `json:"id"` // file name below lists/<list>/held/
	From      string    `json:"from,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	MessageID string    `json:"message_id,omitempty"`
	Rule      string    `json:"rule,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Size      int64     `json:"size,omitempty"` // octets
	Since     time.Time `json:"since"`
	Sum       string    `json:"sum,omitempty"` // checksum of the file
	Trace     string    `json:"trace,omitempty"`
	// Token is the secret part of the address by which moderators decide; it is good once,
	// and as long as the post is held. Empty: not by mail.
	Token string `json:"token,omitempty"`
}

// HoldPost puts a post among the held ones.
type HoldPost struct {
	Post HeldPost `json:"post"`
}

// Kind implements Change.
func (HoldPost) Kind() string { return "hold_post" }

func (c HoldPost) check(s *State) error {
	if c.Post.ID == "" {
		return errors.New("hold post: no id")
	}
	if _, ok := s.HeldPost(c.Post.ID); ok {
		return fmt.Errorf("hold post %s: held already", c.Post.ID)
	}
	return nil
}

func (c HoldPost) apply(d *draft) {
	c.Post.Since = c.Post.Since.UTC()
	d.held.put(c.Post)
}

// DropHeld takes a post from among the held ones, whatever became of it.
type DropHeld struct {
	ID string `json:"id"`
}

// Kind implements Change.
func (DropHeld) Kind() string { return "drop_held" }

func (c DropHeld) check(s *State) error {
	if _, ok := s.HeldPost(c.ID); !ok {
		return fmt.Errorf("held post %s: %w", c.ID, ErrNoHeld)
	}
	return nil
}

func (c DropHeld) apply(d *draft) { d.held.del(HeldPost{ID: c.ID}) }

func lessHeld(a, b HeldPost) bool { return a.ID < b.ID }
