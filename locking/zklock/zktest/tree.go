package zktest

import (
	"fmt"
	"path"
)

// Codes of errors, as on the wire.
const (
	CodeOK             int32 = 0
	CodeInconsistent   int32 = -2
	CodeUnimplemented  int32 = -6
	CodeNoNode         int32 = -101
	CodeNoAuth         int32 = -102
	CodeBadVersion     int32 = -103
	CodeNoChildren     int32 = -108
	CodeNodeExists     int32 = -110
	CodeNotEmpty       int32 = -111
	CodeSessionExpired int32 = -112
	CodeAuthFailed     int32 = -115
)

type node struct {
	data              []byte
	owner             int64
	czxid, mzxid      int64
	ctime             int64
	version, cversion int32
	children          map[string]bool
}

// tree is what one server knows.
type tree struct {
	nodes   map[string]*node
	applied int // entries of the log
}

func newTree() *tree {
	return &tree{nodes: map[string]*node{"/": {children: map[string]bool{}}}}
}

// The types of events, as on the wire.
const (
	created         int32 = 1
	deleted         int32 = 2
	dataChanged     int32 = 3
	childrenChanged int32 = 4
)

// event is what watchers hear of a change.
type event struct {
	typ  int32
	path string
}

// change is an entry of the log: a write that was found to be in order.
type change struct {
	zxid  int64
	ctime int64
	apply func(t *tree, c change) []event
}

// create checks a new node against t and returns the change that makes it.
func (t *tree) create(name string, data []byte, flags int32, session int64) (string, func(*tree, change) []event, int32) {
	parent := path.Dir(name)
	p := t.nodes[parent]
	if p == nil {
		return "", nil, CodeNoNode
	}
	if p.owner != 0 {
		return "", nil, CodeNoChildren
	}
	if flags&2 != 0 && flags < 4 {
		name += fmt.Sprintf("%010d", p.cversion)
	}
	if t.nodes[name] != nil {
		return "", nil, CodeNodeExists
	}
	var owner int64
	if flags == 1 || flags == 3 {
		owner = session
	}
	return name, func(t *tree, c change) []event {
		p := t.nodes[parent]
		p.cversion++
		p.children[path.Base(name)] = true
		t.nodes[name] = &node{data: data, owner: owner, czxid: c.zxid, mzxid: c.zxid, ctime: c.ctime, children: map[string]bool{}}
		return []event{{created, name}, {childrenChanged, parent}}
	}, CodeOK
}

// delete checks a removal. gone names nodes that the same transaction removes first.
func (t *tree) delete(name string, version int32) (func(*tree, change) []event, int32) {
	n := t.nodes[name]
	switch {
	case n == nil:
		return nil, CodeNoNode
	case version >= 0 && n.version != version:
		return nil, CodeBadVersion
	case len(n.children) > 0:
		return nil, CodeNotEmpty
	}
	return func(t *tree, _ change) []event { return t.remove(name) }, CodeOK
}

func (t *tree) remove(name string) []event {
	if t.nodes[name] == nil {
		return nil
	}
	delete(t.nodes, name)
	delete(t.nodes[path.Dir(name)].children, path.Base(name))
	return []event{{deleted, name}, {childrenChanged, path.Dir(name)}}
}

// set checks a change of a node's data.
func (t *tree) set(name string, data []byte, version int32) (func(*tree, change) []event, int32) {
	switch n := t.nodes[name]; {
	case n == nil:
		return nil, CodeNoNode
	case version >= 0 && n.version != version:
		return nil, CodeBadVersion
	}
	return func(t *tree, c change) []event {
		n := t.nodes[name]
		n.data, n.mzxid = data, c.zxid
		n.version++
		return []event{{dataChanged, name}}
	}, CodeOK
}

// endSession removes a session's nodes.
func endSession(id int64) func(*tree, change) []event {
	return func(t *tree, _ change) []event {
		var out []event
		for name, n := range t.nodes {
			if n.owner == id {
				out = append(out, t.remove(name)...)
			}
		}
		return out
	}
}
