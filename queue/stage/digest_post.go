package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"qrunner/lists"
	"qrunner/lists/digest"
	"qrunner/lists/message"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// digestFolder is where posts wait for a digest, below the list's folder.
const digestFolder = "digest"

// collect puts a post's copy among those that wait for the next digest; when it fills
// the digest, an entry that says so goes to the queue digest.
func collect(w *queue.Work, p *lists.Post, o *queue.Outcome) {
	if p.Digest == nil {
		return
	}
	data := p.Digest.Wire()
	sum, name := sha256.Sum256(data), sha256.Sum256([]byte(w.Entry.ID))
	post := store.DigestPost{
		ID: fmt.Sprintf("%08d.%s", p.PostID, letters(name[:])[:heldIDLen]), N: p.PostID,
		From: shown(message.DecodeHeader(p.Digest.Get("From"))), Subject: shown(message.DecodeHeader(p.Digest.Get("Subject"))),
		Size: int64(len(data)), Since: w.Entry.Received, Sum: hex.EncodeToString(sum[:]),
	}
	o.Changes = append(o.Changes, store.AddToDigest{Post: post})
	o.Children = append(o.Children, queue.Child{File: &queue.File{Path: path.Join(digestFolder, post.ID), Data: data}})
	before := w.State.DigestSize()
	if digest.Fills(w.List.Settings, before, before+post.Size) {
		o.Children = append(o.Children, queue.Child{Entry: digestDue(w.List.ID, "digest."+w.Entry.Trace)})
	}
}

// digestDue is the entry that says that a digest is to be sent.
func digestDue(id lists.ID, trace string) *queue.Entry {
	e := &queue.Entry{Queue: queue.Digest, List: id, Raw: []byte("Subject: a digest is due\r\n\r\n")}
	e.Target, e.Source, e.Trace = lists.Target{List: id}, "internal", trace
	return e
}

const digestKey = "digest"

// digestTime says whether the time of a digest has come that did not fill up; once in
// half a period, since one that cannot be made must not fill the queue.
func digestTime(st *store.State, now time.Time) (queue.Child, store.Change, bool) {
	set, d := st.List().Settings, st.Digest()
	if len(d.Posts) == 0 || st.Count(digestKey, now) > 0 {
		return queue.Child{}, nil, false
	}
	due := digest.Due(set, d.Posts[0].Since)
	if due.IsZero() || now.Before(due) {
		return queue.Child{}, nil, false
	}
	every, err := lists.ParseDuration(set.Text("digest_send_every"))
	if err != nil {
		every = day
	}
	e := digestDue(st.ID(), "digest."+now.UTC().Format("20060102T150405.000000"))
	return queue.Child{Entry: e}, store.AddCount{Key: digestKey, At: now, Until: now.Add(max(every/2, time.Minute))}, true
}

// loadDigestPost reads a post that waits for a digest. nil: it is lost, or is not what
// was put there; a digest goes out without it rather than never.
func (c Config) loadDigestPost(ctx context.Context, list lists.ID, p store.DigestPost) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	name := path.Join("lists", string(list), digestFolder, p.ID)
	data, err := fsys.ReadFile(c.FS, name, spool.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		there, lerr := fsys.Listed(c.FS, name)
		if lerr == nil && !there {
			return nil, nil
		}
		err = errors.Join(err, lerr)
	}
	if err != nil {
		return nil, fmt.Errorf("read post for digest: %w: %w", queue.ErrTrouble, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.Sum {
		return nil, nil
	}
	return data, nil
}
