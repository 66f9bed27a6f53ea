package zklock

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"
)

// call does f, which calls the library. The library knows no contexts: if ctx ends first,
// f goes on by itself, and what it returns is dropped.
func call[T any](ctx context.Context, s *session, f func(*zk.Conn) (T, error)) (T, error) {
	var zero T
	if ctx.Err() != nil {
		return zero, context.Cause(ctx)
	}
	if ctx.Done() == nil { // nobody could stop it anyway
		return f(s.conn)
	}
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	ok := s.spawn(func() {
		v, err := f(s.conn)
		done <- result{v, err}
	})
	if !ok {
		return zero, ErrClosed
	}
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.v, r.err
	default:
		return zero, context.Cause(ctx)
	}
}

// pause is how long a call is put off that failed for a reason that may pass, if it
// failed before.
const pause = 50 * time.Millisecond

// persist does a call that may be done again, until it is answered, the Locker is closed,
// or ctx ends.
func persist[T any](ctx context.Context, s *session, f func(*zk.Conn) (T, error)) (T, error) {
	for try := 0; ; try++ {
		_, err := s.ready(ctx)
		var v T
		if err == nil {
			v, err = call(ctx, s, f)
		}
		if !passes(err) || s.life.Err() != nil {
			if err != nil && s.life.Err() != nil {
				err = context.Cause(s.life)
			}
			return v, err
		}
		if try > 0 {
			sleep(ctx, pause)
		}
	}
}

// passes reports whether err is trouble of the connection, which the library mends.
func passes(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || unsent(err)
}

// unsent reports whether err means that a request was certainly not done, but might be
// if it is sent again.
func unsent(err error) bool {
	return errors.Is(err, zk.ErrNoServer) || errors.Is(err, zk.ErrSessionExpired) || errors.Is(err, zk.ErrSessionMoved)
}

// answered reports whether err is the answer of a leader to a request that it has
// looked at.
func answered(err error) bool {
	return err == nil || errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrNoAuth)
}

// check asks the leader, and a majority, whether a node is there. It is a write that
// changes nothing and wakes nobody: so its answer is never an old one, it proves that
// our session lives, and whatever was written before it can be seen after it.
func check(path string) func(*zk.Conn) (struct{}, error) {
	return func(c *zk.Conn) (struct{}, error) {
		_, err := c.Multi(&zk.CheckVersionRequest{Path: path, Version: -1})
		return struct{}{}, err
	}
}

// children lists a node.
func children(path string) func(*zk.Conn) ([]string, error) {
	return func(c *zk.Conn) ([]string, error) {
		names, _, err := c.Children(path)
		return names, err
	}
}

// content is a node's data and status.
type content struct {
	data []byte
	stat *zk.Stat
}

func get(path string) func(*zk.Conn) (content, error) {
	return func(c *zk.Conn) (content, error) {
		data, stat, err := c.Get(path)
		return content{data, stat}, err
	}
}

// remove deletes a node.
func remove(path string) func(*zk.Conn) (struct{}, error) {
	return func(c *zk.Conn) (struct{}, error) { return struct{}{}, c.Delete(path, -1) }
}
