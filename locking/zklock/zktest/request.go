package zktest

import (
	"maps"
	"slices"
)

// The operations, as numbered on the wire.
var ops = map[int32]string{
	1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 6: "getACL", 9: "sync", 11: "ping",
	12: "getChildren2", 14: "multi", 19: "createContainer", 100: "setAuth", 101: "setWatches", -11: "close",
}

// request handles a packet and reports whether the connection goes on.
func (c *conn) request(r *reader) bool {
	e := c.e
	xid, op := r.int32(), ops[r.int32()]
	path := ""
	if op != "multi" && op != "setAuth" && op != "setWatches" && len(r.b) >= 4 {
		path = (&reader{b: r.b}).string()
	}
	e.mu.Lock()
	e.calls[op]++
	hook, id, live := e.hook, c.session.id, !c.session.ended
	if live {
		c.session.timer.Reset(c.session.timeout)
	}
	e.mu.Unlock()
	if !live {
		return false
	}
	var fate Fate
	if hook != nil {
		fate = hook(Request{Op: op, Path: path, Session: id, Server: c.at.n})
	}
	if !c.wait(fate) {
		return false
	}
	if op == "close" {
		e.Expire(id)
		c.reply(xid, 0, CodeOK, nil)
		return false
	}
	zxid, code, body := int64(0), fate.Code, []byte(nil)
	if code == CodeOK {
		e.mu.Lock()
		if c.session.ended || c.session.at != c.at {
			e.mu.Unlock()
			return false // a server does nothing more for a session that has moved to another
		}
		zxid, code, body = c.do(op, r)
		if !fate.LoseReply {
			c.reply(xid, zxid, code, body) // in order with the events
		}
		e.mu.Unlock()
	} else {
		c.reply(xid, 0, code, nil)
	}
	return !fate.LoseReply && !r.bad
}

// wait lets a request wait, and reports whether it shall be done: what was read before the
// connection ended is done all the same.
func (c *conn) wait(fate Fate) bool {
	if fate.Wait != nil {
		var end <-chan struct{} = c.e.done
		if fate.Lose {
			end = c.ctx.Done()
		}
		select {
		case <-fate.Wait:
		case <-end:
		}
	}
	return !fate.Lose
}

func (c *conn) reply(xid int32, zxid int64, code int32, body []byte) {
	var w writer
	w.int32(xid)
	w.int64(zxid)
	w.int32(code)
	w.b = append(w.b, body...)
	c.send(w.b)
}

// do does an operation; the Ensemble's mu is held.
func (c *conn) do(op string, r *reader) (zxid int64, code int32, body []byte) {
	e := c.e
	write := func(f func(*tree, change) []event, code int32) int32 {
		if code == CodeOK {
			e.commit(c.at, f)
		}
		return code
	}
	var w writer
	switch op {
	case "create", "createContainer":
		name, data := r.string(), r.bytes()
		r.skipACL()
		name, f, err := e.leader.create(name, data, r.int32(), c.session.id)
		code = write(f, err)
		w.string(name)
	case "delete":
		code = write(e.leader.delete(r.string(), r.int32()))
	case "setData":
		name := r.string()
		code = write(e.leader.set(name, r.bytes(), r.int32()))
		if n := e.leader.nodes[name]; n != nil {
			w.stat(n)
		}
	case "multi":
		w.b = c.multi(r)
	case "sync":
		e.catchUp(c.at)
		w.string(r.string())
	case "setWatches":
		c.setWatches(r)
	case "ping", "setAuth":
	default:
		code = c.look(op, r, &w)
	}
	if code != CodeOK {
		w.b = nil
	}
	return int64(c.at.tree.applied), code, w.b
}

// look answers the operations that only read.
func (c *conn) look(op string, r *reader, w *writer) int32 {
	name := r.string()
	watching := op != "getACL" && r.bool()
	n := c.at.tree.nodes[name]
	if n == nil {
		if watching && op == "exists" {
			c.watches[watch{created, name}] = true
		}
		return CodeNoNode
	}
	kind := dataChanged
	switch op {
	case "exists":
	case "getData":
		w.bytes(n.data)
	case "getACL":
		w.int32(1)
		w.int32(31)
		w.string("world")
		w.string("anyone")
	case "getChildren2":
		kind = childrenChanged
		w.int32(int32(len(n.children)))
		for _, child := range slices.Sorted(maps.Keys(n.children)) {
			w.string(child)
		}
	default:
		return CodeUnimplemented
	}
	w.stat(n)
	if watching {
		c.watches[watch{kind, name}] = true
	}
	return CodeOK
}

// setWatches sets a moved session's watches again, or tells what they have missed.
func (c *conn) setWatches(r *reader) {
	since := r.int64()
	for _, kind := range []int32{dataChanged, created, childrenChanged} {
		for _, name := range r.strings() {
			n := c.at.tree.nodes[name]
			w := watch{kind, name}
			c.watches[w] = true
			switch {
			case kind == created && n != nil:
				c.notify(event{created, name})
			case kind != created && n == nil:
				c.notify(event{deleted, name})
			case kind == dataChanged && n.mzxid > since:
				c.notify(event{dataChanged, name})
			}
		}
	}
}
