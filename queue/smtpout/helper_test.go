package smtpout_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"qrunner/lists/mailaddr"
	"qrunner/queue"
	"qrunner/queue/queuetest"
	"qrunner/queue/smtpout"
)

const post = "Message-ID: <1@example.org>\r\nSubject: hello\r\n\r\nOne.\r\n.two\r\n..three\r\n.\r\n"

// rig is a pool that talks to a sink, in memory.
type rig struct {
	t    *testing.T
	sink *queuetest.Sink
	pool *smtpout.Pool
}

func newRig(t *testing.T, sc queuetest.SinkConfig, c smtpout.Config) *rig {
	t.Helper()
	sink, err := queuetest.NewSink(sc)
	if err != nil {
		t.Fatal(err)
	}
	if c.Host == "" {
		c.Host = "localhost"
	}
	if c.Dial == nil {
		c.Dial = sink.Dial
	}
	if c.RootCAs == nil {
		c.RootCAs = sink.RootCAs()
	}
	pool, err := smtpout.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pool.Close()
		sink.Close()
		if n := pool.Stats().Open; n != 0 {
			t.Errorf("%d connections open at the end", n)
		}
	})
	return &rig{t: t, sink: sink, pool: pool}
}

func (r *rig) acquire() queue.Conn {
	r.t.Helper()
	c, err := r.pool.Acquire(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// send acquires, sends once and releases.
func (r *rig) send(t *queue.Transaction) []queue.Reply {
	r.t.Helper()
	c := r.acquire()
	defer c.Release()
	return c.Send(r.t.Context(), t)
}

func mail(rcpts ...mailaddr.Address) *queue.Transaction {
	return &queue.Transaction{Sender: "list-bounces@example.org", Recipients: rcpts, Raw: []byte(post)}
}

// outline is the replies in short: "250 dot, 550 rcpt".
func outline(replies []queue.Reply) string {
	var out []string
	for _, r := range replies {
		code := strings.Fields(r.String())[0]
		if r.Code == 0 {
			code = "0"
		}
		out = append(out, code+" "+string(r.Phase))
	}
	return strings.Join(out, ", ")
}

// failure is a SiteError in short: "greeting 554" or "connect".
func failure(err error) string {
	site, ok := errors.AsType[*queue.SiteError](err)
	switch {
	case err == nil:
		return "none"
	case !ok:
		return "other: " + err.Error()
	case site.Err != nil:
		return string(site.Phase) + ": " + site.Err.Error()
	default:
		return string(site.Phase) + ": " + site.Reply.String()
	}
}

// bubble runs a test with its own time.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("shutting down"))
	return ctx
}

// trickle dials a server that greets with an endless line, an octet at a time.
func trickle(every time.Duration) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			for range 100 {
				if _, err := ours.Write([]byte("2")); err != nil {
					return
				}
				time.Sleep(every)
			}
		}()
		return theirs, nil
	}
}

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// slowly is a line on which every large write takes a while.
func slowly(dial dialFunc, d time.Duration) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return slowConn{conn, d}, err
	}
}

type slowConn struct {
	net.Conn
	d time.Duration
}

func (c slowConn) Write(p []byte) (int, error) {
	if len(p) > 1000 {
		time.Sleep(c.d)
	}
	return c.Conn.Write(p)
}
