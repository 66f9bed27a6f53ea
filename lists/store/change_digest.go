package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"qrunner/lists"
)

// DigestPost is a post that waits for the next digest. Its message is a file of the
// list, which exists only while the state names it.
type DigestPost struct {
	ID      string    `json:"id"`             // file name below lists/<list>/digest/; names sort as the posts came
	N       uint64    `json:"n"`              // the post's number
	From    string    `json:"from,omitempty"` // its author, for people
	Subject string    `json:"subject,omitempty"`
	Size    int64     `json:"size"` // octets of the file
	Since   time.Time `json:"since"`
	Sum     string    `json:"sum"` // SHA-256 of the file
}

// LastDigest is a member who gets the next digest though he gets none after it: he
// has just changed to single posts.
type LastDigest struct {
	Member lists.MemberID     `json:"member"`
	Mode   lists.DeliveryMode `json:"mode"` // what he had before
}

// Digest is where a list's digests stand.
type Digest struct {
	// Volume and Issue are those of the digest that was sent last; 0 before the first.
	Volume, Issue int
	// SentAt is when that was.
	SentAt time.Time
	// Posts wait for the next one, oldest first; Size is that of all, in octets.
	Posts []DigestPost
	Size  int64
	// Last are the members who get one last digest, in order of their numbers.
	Last []LastDigest
}

// Digest tells where the list's digests stand.
func (s *State) Digest() Digest {
	d := Digest{
		Volume: s.issued.Volume, Issue: s.issued.Issue, SentAt: s.issued.SentAt,
		Posts: slices.Collect(s.digest.all()), Last: slices.Collect(s.last.all()),
	}
	for _, p := range d.Posts {
		d.Size += p.Size
	}
	return d
}

// DigestSize is how much waits for the next digest, in octets.
func (s *State) DigestSize() int64 {
	n := int64(0)
	for p := range s.digest.all() {
		n += p.Size
	}
	return n
}

// issued is the digest that was sent last.
type issued struct {
	Volume int       `json:"volume,omitempty"`
	Issue  int       `json:"issue,omitempty"`
	SentAt time.Time `json:"sent_at,omitzero"`
}

// AddToDigest puts a post among those that wait for the next digest.
type AddToDigest struct {
	Post DigestPost `json:"post"`
}

// Kind implements Change.
func (AddToDigest) Kind() string { return "add_to_digest" }

func (c AddToDigest) check(s *State) error {
	if c.Post.ID == "" || c.Post.Sum == "" {
		return errors.New("add to digest: no id or sum")
	}
	if _, ok := s.digest.get(c.Post); ok {
		return fmt.Errorf("add to digest: %s is there already", c.Post.ID)
	}
	return nil
}

func (c AddToDigest) apply(d *draft) {
	c.Post.Since = c.Post.Since.UTC()
	d.digest.put(c.Post)
}

// CloseDigest says that the posts that wait have become a digest, or come to nothing
// because nobody gets digests any more. Posts names them all: a post that came in
// between must not be lost.
type CloseDigest struct {
	Volume int       `json:"volume"`
	Issue  int       `json:"issue"`
	At     time.Time `json:"at"`
	Posts  []string  `json:"posts"`
}

// Kind implements Change.
func (CloseDigest) Kind() string { return "close_digest" }

func (c CloseDigest) check(s *State) error {
	if c.Volume < s.issued.Volume || c.Volume == s.issued.Volume && c.Issue < s.issued.Issue {
		return fmt.Errorf("close digest %d.%d: the last was %d.%d", c.Volume, c.Issue, s.issued.Volume, s.issued.Issue)
	}
	var ids []string
	for p := range s.digest.all() {
		ids = append(ids, p.ID)
	}
	if !slices.Equal(ids, c.Posts) {
		return fmt.Errorf("close digest %d.%d: of %d posts, and %d wait", c.Volume, c.Issue, len(c.Posts), len(ids))
	}
	return nil
}

func (c CloseDigest) apply(d *draft) {
	for _, id := range c.Posts {
		d.digest.del(DigestPost{ID: id})
	}
	d.last = newSet(lessLast)
	d.issued = issued{c.Volume, c.Issue, c.At.UTC()}
	d.digests++
}

// SetDigest says which digest counts as the last that was sent: the numbers go on
// from there.
type SetDigest struct {
	Volume int       `json:"volume"`
	Issue  int       `json:"issue"`
	SentAt time.Time `json:"sent_at,omitzero"`
}

// Kind implements Change.
func (SetDigest) Kind() string { return "set_digest" }

func (c SetDigest) check(*State) error {
	if c.Volume < 0 || c.Issue < 0 {
		return fmt.Errorf("digest %d.%d: numbers begin at 0", c.Volume, c.Issue)
	}
	return nil
}

func (c SetDigest) apply(d *draft) { d.issued = issued{c.Volume, c.Issue, c.SentAt.UTC()} }

// modeChanged gives a member who leaves digests for single posts what has been
// collected for him until then.
func (d *draft) modeChanged(old, now *lists.Member) {
	switch was := old.Mode.Digests(); {
	case now.Role == lists.RoleMember && was && !now.Mode.Digests() && d.digest.len() > 0:
		d.last.put(LastDigest{old.ID, old.Mode})
	case now.Mode.Digests():
		d.last.del(LastDigest{Member: old.ID})
	}
}

func lessDigest(a, b DigestPost) bool { return a.ID < b.ID }

func lessLast(a, b LastDigest) bool { return cmp.Less(a.Member, b.Member) }
