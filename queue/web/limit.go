package web

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// One client, that is an IPv4 address or an IPv6 /64, may make so many requests at once
// and so many a second in the long run: mailbox providers send those of many people from
// few addresses. A request that was none costs more: nobody tries tokens out.
const (
	burst   = 200
	perSec  = 10
	wrong   = 10
	clients = 10_000 // remembered
)

// limits is a bucket for each client. Any goroutine may use it.
type limits struct {
	mu      sync.Mutex
	buckets map[netip.Prefix]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLimits() *limits { return &limits{buckets: map[netip.Prefix]*bucket{}} }

// allow takes one request out of a client's bucket, if there is one left.
func (l *limits) allow(a netip.Addr, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(a, now)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// charge takes more for a request that was wrong.
func (l *limits) charge(a netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bucket(a, now).left -= wrong
}

func (l *limits) bucket(a netip.Addr, now time.Time) *bucket {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	key, _ := a.Prefix(bits) // the zero prefix for who has no address
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= clients {
			l.prune(now)
		}
		b = &bucket{left: burst, at: now}
		l.buckets[key] = b
	}
	b.left = min(burst, b.left+now.Sub(b.at).Seconds()*perSec)
	b.at = now
	return b
}

// prune forgets who has a full bucket by now, or everybody.
func (l *limits) prune(now time.Time) {
	for key, b := range l.buckets {
		if b.left+now.Sub(b.at).Seconds()*perSec >= burst {
			delete(l.buckets, key)
		}
	}
	if len(l.buckets) >= clients {
		clear(l.buckets)
	}
}

// client is who asks: the peer, or, behind a proxy that is believed, whom it names.
func (s *site) client(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	a, _ := netip.ParseAddr(host)
	a = a.Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil || !slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(a) }) {
			break
		}
		a = next.Unmap().WithZone("")
	}
	return a
}

// again is how long the same request needs no second entry.
const again = time.Minute

// recent is what was put into queues of late. Any goroutine may use it.
type recent struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func newRecent() *recent { return &recent{seen: map[string]time.Time{}} }

func (c *recent) has(key string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.seen[key]
	return ok && now.Sub(at) < again
}

func (c *recent) add(key string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= clients {
		clear(c.seen)
	}
	c.seen[key] = now
}

func newTrace() string { return strings.ToLower(rand.Text()[:16]) }
