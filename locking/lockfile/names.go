package lockfile

import (
	"fmt"
	"strconv"
	"strings"

	"qrunner/locking"
	"qrunner/locking/hosts"
)

// The files in a lock's folder begin with what they are. A key of one segment has
// the folder to itself; of a longer key the last segment follows after "=":
//
//	lock                                 the lock; another name of its holder's claim
//	claim.<host>.<pid>.<16 hex>          private: one holder's or waiter's record
//	second.<host>.<pid>.<16 hex>         private: a breaker's claim on its way over the lock
//	tk.<host>.<pid>.<16 hex>             private: becomes a ticket by link
//	ticket.<32 hex>.<k>                  who may close that incarnation of the lock
//	lock=0-1000, claim.h.7.<hex>=0-1000  the same for a key that ends in "0-1000"
//
// A plain lock (Config.Plain) is the file of the key's name, among files of others; its
// private files and tickets are hidden ones: ".NAME.claim.<host>.<pid>.<16 hex>".
const (
	kindLock   = "lock"
	kindClaim  = "claim"
	kindSecond = "second"
	kindTk     = "tk"
	kindTicket = "ticket"
)

// paths makes the names of one key's files.
type paths struct {
	key    locking.Key
	dir    string // the lock's folder, from the share's root
	prefix string // "", or "." and the name and "." of a plain lock
	suffix string // "" or "=" and the key's last segment
	nested bool   // the folder is for several keys and comes and goes with them
}

func (l *Locker) paths(key locking.Key) (paths, error) {
	if _, err := locking.ParseKey(string(key)); err != nil {
		return paths{}, err
	}
	segs := strings.Split(string(key), "/")
	if l.cfg.Plain {
		if len(segs) > 1 {
			return paths{}, fmt.Errorf("lock key %q: a plain lock is one file name", key)
		}
		return paths{key: key, dir: l.cfg.Root, prefix: "." + string(key) + "."}, nil
	}
	p := paths{key: key, dir: l.cfg.Root + "/" + string(key)}
	if n := len(segs) - 1; n > 0 {
		for _, s := range segs[1:n] {
			if f, ok := parseName(s); ok {
				return paths{}, fmt.Errorf("lock key %q: segment would be taken for a %s file", key, f.kind)
			}
		}
		p.dir = l.cfg.Root + "/" + strings.Join(segs[:n], "/")
		p.suffix = "=" + segs[n]
		p.nested = true
	}
	return p, nil
}

// file is the path of a name in the lock's folder.
func (p paths) file(base string) string {
	if p.dir == "." {
		return base
	}
	return p.dir + "/" + base
}

func (p paths) lock() string { return p.file(p.lockBase()) }

func (p paths) lockBase() string {
	if p.prefix != "" {
		return string(p.key)
	}
	return kindLock + p.suffix
}

func (p paths) ticket(nonce string, k int) string {
	return p.file(p.prefix + kindTicket + "." + nonce + "." + strconv.Itoa(k) + p.suffix)
}

// private names a file of this process alone.
func (l *Locker) private(p paths, kind string) string {
	h := &l.cfg.Host
	return p.file(p.prefix + kind + "." + h.Host + "." + strconv.Itoa(h.PID) + "." + l.random(1) + p.suffix)
}

// fileName is what a name in a lock's folder says.
type fileName struct {
	kind   string
	host   string // of the private kinds
	pid    int
	nonce  string // the random part, or a ticket's incarnation
	k      int    // of a ticket
	suffix string // "" or "=" and the key's last segment
}

// parse reads a name in the lock's folder; ok is false for one that is not of this lock.
func (p paths) parse(base string) (f fileName, ok bool) {
	if p.prefix == "" {
		f, ok = parseName(base)
		return f, ok && f.suffix == p.suffix
	}
	if base == string(p.key) {
		return fileName{kind: kindLock}, true
	}
	base, ok = strings.CutPrefix(base, p.prefix)
	if ok {
		f, ok = parseName(base)
	}
	return f, ok && f.kind != kindLock && f.suffix == ""
}

// parseName reads a name in a lock's folder; ok is false for a name not of ours.
func parseName(base string) (f fileName, ok bool) {
	if i := strings.IndexByte(base, '='); i >= 0 {
		base, f.suffix = base[:i], base[i:]
	}
	kind, rest, dotted := strings.Cut(base, ".")
	f.kind = kind
	switch kind {
	case kindLock:
		return f, !dotted
	case kindTicket:
		nonce, k, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(k)
		f.nonce, f.k = nonce, n
		return f, isHex(nonce, 32) && err == nil && strconv.Itoa(n) == k && n >= 0
	case kindClaim, kindSecond, kindTk:
		i := strings.LastIndexByte(rest, '.')
		j := strings.LastIndexByte(rest[:max(i, 0)], '.')
		if j < 0 {
			return f, false
		}
		pid, err := strconv.Atoi(rest[j+1 : i])
		f.host, f.pid, f.nonce = rest[:j], pid, rest[i+1:]
		return f, hosts.ValidName(f.host) && isHex(f.nonce, 16) &&
			err == nil && pid > 0 && strconv.Itoa(pid) == rest[j+1:i]
	}
	return f, false
}

func isHex(s string, n int) bool {
	return len(s) == n && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f')
	})
}
