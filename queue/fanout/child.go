package fanout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"qrunner/lists"
	"qrunner/locking/fsys"
	"qrunner/queue"
	"qrunner/queue/spool"
)

// kid is an entry that comes of a fan-out. file is its name inside the folder until
// it is published, target its path below queue/.
type kid struct {
	file, target string
	entry        *queue.Entry
}

// kidID derives a child's name from the fan-out and what the child is about, so that
// whoever makes it again makes the same one.
func kidID(parent queue.ID, about string) queue.ID {
	h := sha256.Sum256([]byte(string(parent) + "\x00" + about))
	host := "x"
	if part := strings.Split(string(parent), "."); len(part) == 4 {
		host = part[2]
	}
	return queue.NewID(parent.Time(), uint64(binary.BigEndian.Uint32(h[8:])), host, binary.BigEndian.Uint64(h[:]))
}

// kid names a child of this claim's range and fills in what all have in common.
func (c *claim) kid(q queue.Name, about string, e *queue.Entry) kid {
	e.ID, e.Queue, e.List = kidID(c.unit.id, about), q, c.unit.list
	e.Received, e.Source, e.Trace = c.s.time.now(), "internal", c.fan.Trace
	target := string(q) + "/" + string(c.unit.list) + "/" + string(e.ID)
	return kid{file: childPrefix + c.rng + "." + string(q) + "." + string(e.ID), target: target, entry: e}
}

// bounces makes, on stable storage inside the folder, a bounce event for each
// recipient that the records give up on its own account.
func (c *claim) bounces(ctx context.Context, records []record) ([]kid, error) {
	head, _, _ := bytes.Cut(c.fan.Raw, []byte("\r\n\r\n"))
	var kids []kid
	for _, r := range records {
		phase := "rcpt"
		switch {
		case r.kind == expired && r.reply.Phase != queue.PhaseMail: // MAIL knows no recipient
			phase = "expired"
		case r.kind != bounced:
			continue
		}
		r.set.each(c.tally.from, c.tally.to, func(n int) {
			e := &queue.Entry{Raw: append(bytes.Clone(head), "\r\n\r\n"...)}
			e.Target = lists.Target{List: c.unit.list, Sub: lists.SubBounces}
			e.Meta.Bounce = &queue.Bounce{Recipient: c.rcpt(n), Reply: r.reply.String(), Phase: phase}
			kids = append(kids, c.kid(queue.Bounces, "bounce "+strconv.Itoa(n), e))
		})
	}
	return kids, c.write(ctx, kids)
}

// write puts children into the folder. One that is there already and not journaled
// was cut off, or is a sleeper's: it is written anew.
func (c *claim) write(ctx context.Context, kids []kid) error {
	if len(kids) == 0 {
		return nil
	}
	f := c.s.c.FS
	for _, k := range kids {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := spool.Encode(k.entry)
		if err != nil {
			return err
		}
		name := c.unit.dir() + "/" + k.file
		if err := fsys.RemoveAny(f, name); err != nil {
			return moved(err)
		}
		err = fsys.WriteNew(f, name, func(w io.Writer) error { _, err := w.Write(data); return err })
		if err != nil {
			return moved(err)
		}
	}
	return c.dir.Sync()
}

// publish renames journaled children into their queues and syncs those. A child that
// is gone, by a fresh listing, was published.
func (c *claim) publish(ctx context.Context, kids []kid) error {
	if len(kids) == 0 {
		return nil
	}
	if err := c.lease.Verify(ctx); err != nil {
		return err
	}
	for len(kids) > 0 {
		dir := path.Dir(kids[0].target)
		n := slices.IndexFunc(kids, func(k kid) bool { return path.Dir(k.target) != dir })
		if n < 0 {
			n = len(kids)
		}
		if err := c.publishInto(dir, kids[:n]); err != nil {
			return err
		}
		c.s.c.Published(queue.Name(path.Dir(dir)), c.unit.list)
		kids = kids[n:]
	}
	return nil
}

// publishTries bounds how often a queue's folder may be removed under our hands.
const publishTries = 8

func (c *claim) publishInto(dir string, kids []kid) error {
	var err error
	for range publishTries {
		var d fsys.Dir
		if d, err = c.s.c.FS.OpenDir("queue/" + dir); err == nil {
			kids, err = c.move(d, kids)
			_ = d.Close()
		}
		if !fsys.Gone(err) {
			return err
		}
		if merr := fsys.MkdirAll(c.s.c.FS, "queue/"+dir); merr != nil {
			return merr
		}
	}
	return err
}

// move renames children into the open folder d and returns those still to do.
func (c *claim) move(d fsys.Dir, kids []kid) ([]kid, error) {
	for len(kids) > 0 {
		from := c.unit.dir() + "/" + kids[0].file
		if err := d.Rename(from, path.Base(kids[0].target)); err != nil {
			if !fsys.Gone(err) {
				return kids, err
			}
			if there, lerr := fsys.Listed(c.s.c.FS, from); lerr != nil || there {
				return kids, errors.Join(err, lerr) // it is the queue's folder that went
			}
		}
		kids = kids[1:]
	}
	return nil, d.Sync()
}

// orphans finishes what a former owner of the range left: children that it
// journaled are published, others are removed (they will be made again).
func (c *claim) orphans(ctx context.Context) error {
	var kids []kid
	var errs []error
	for _, name := range c.view.children {
		rest, ok := strings.CutPrefix(name, childPrefix+c.rng+".")
		if !ok {
			continue
		}
		q, id, _ := strings.Cut(rest, ".")
		k := kid{file: name, target: q + "/" + string(c.unit.list) + "/" + id}
		if c.tally.children[k.target] {
			kids = append(kids, k)
		} else {
			errs = append(errs, fsys.RemoveAny(c.s.c.FS, c.unit.dir()+"/"+name))
		}
	}
	return errors.Join(append(errs, c.publish(ctx, kids))...)
}
