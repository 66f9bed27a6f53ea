package zktest

// The operations that a transaction may consist of.
const (
	opDelete int32 = 2
	opCheck  int32 = 13
	opError  int32 = -1
)

// multi does a transaction of checks and deletes, all of them or none. The Ensemble's
// mu is held.
func (c *conn) multi(r *reader) []byte {
	e := c.e
	var kinds, codes []int32
	var names []string
	failed := false
	for {
		op, done := r.int32(), r.bool()
		r.int32()
		if done || r.bad {
			break
		}
		name, version := r.string(), r.int32()
		code := CodeUnimplemented
		switch n := e.leader.nodes[name]; {
		case op == opDelete:
			_, code = e.leader.delete(name, version)
		case op == opCheck && n == nil:
			code = CodeNoNode
		case op == opCheck && version >= 0 && n.version != version:
			code = CodeBadVersion
		case op == opCheck:
			code = CodeOK
		}
		if failed {
			code = CodeInconsistent
		}
		failed = failed || code != CodeOK
		kinds, codes, names = append(kinds, op), append(codes, code), append(names, name)
	}
	e.commit(c.at, func(t *tree, _ change) []event {
		var out []event
		for i, op := range kinds {
			if op == opDelete && !failed {
				out = append(out, t.remove(names[i])...)
			}
		}
		return out
	})
	var w writer
	for i, op := range kinds {
		if failed {
			op = opError
		}
		w.int32(op)
		w.bool(false)
		w.int32(codes[i])
		if failed {
			w.int32(codes[i])
		}
	}
	w.int32(-1)
	w.bool(true)
	w.int32(-1)
	return w.b
}
