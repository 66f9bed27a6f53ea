// Package keys keeps the private keys that lists sign with, on the share:
// keys/<domain>/<selector>.pem, one PKCS #8 file each, readable by its owner only. A
// file is written once and never changed: a new key gets a new selector.
package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"qrunner/lists/mailauth/dkim"
	"qrunner/locking/fsys"
)

// folder is the keys' place on the share.
const folder = "keys"

// maxFile is more than the file of any key that DKIM allows.
const maxFile = 64 << 10

// suffix ends the file names.
const suffix = ".pem"

// Errors of this package.
var (
	// ErrNoKey: there is no key of that name. Right after it was made on another host,
	// NFS may say so for half a minute.
	ErrNoKey = errors.New("no such key")
	// ErrExists: the selector is taken.
	ErrExists = errors.New("the selector has a key already")
	// ErrName: not a domain, or not a selector.
	ErrName = errors.New("not a domain and selector")
)

// Name names a key.
type Name struct{ Domain, Selector string }

// ParseName checks that the two can be published (RFC 6376 §3.1) and are file names.
func ParseName(domain, selector string) (Name, error) {
	n := Name{strings.ToLower(domain), strings.ToLower(selector)}
	if !strings.Contains(n.Domain, ".") || !okName(n.Domain) || !okName(n.Selector) {
		return Name{}, fmt.Errorf("%w: %q, %q", ErrName, domain, selector)
	}
	return n, nil
}

func okName(s string) bool {
	if len(s) > 200 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		odd := strings.ContainsFunc(label, func(r rune) bool {
			return !(r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
		})
		if label == "" || len(label) > 63 || odd {
			return false
		}
	}
	return true
}

func (n Name) dir() string  { return folder + "/" + n.Domain }
func (n Name) path() string { return n.dir() + "/" + n.Selector + suffix }

// String is the name in the DNS.
func (n Name) String() string { return dkim.Name(n.Domain, n.Selector) }

// Store reads and makes keys. Any goroutine may use it.
type Store struct {
	fs fsys.FS
	mu sync.Mutex // never held across a call to the share
	// known are the keys read so far: they do not change.
	known map[Name]dkim.Signer
}

// New makes a Store on a share.
func New(f fsys.FS) *Store { return &Store{fs: f, known: map[Name]dkim.Signer{}} }

// Signer reads a key, from memory if it was read before. ErrNoKey, dkim.ErrKey, or a
// trouble of the share.
func (s *Store) Signer(ctx context.Context, n Name) (dkim.Signer, error) {
	s.mu.Lock()
	signer, ok := s.known[n]
	s.mu.Unlock()
	if ok {
		return signer, nil
	}
	if err := ctx.Err(); err != nil {
		return dkim.Signer{}, fmt.Errorf("read key %s: %w", n, err)
	}
	data, err := fsys.ReadFile(s.fs, n.path(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoKey
	}
	if err != nil {
		return dkim.Signer{}, fmt.Errorf("read key %s: %w", n, err)
	}
	key, err := dkim.ParsePEM(data)
	if err != nil {
		return dkim.Signer{}, fmt.Errorf("read key %s: %w", n, err)
	}
	signer = dkim.Signer{Domain: n.Domain, Selector: n.Selector, Key: key}
	s.mu.Lock()
	s.known[n] = signer
	s.mu.Unlock()
	return signer, nil
}

// List names every key, by domain and selector.
func (s *Store) List(ctx context.Context) ([]Name, error) {
	domains, err := s.names(ctx, folder)
	if err != nil {
		return nil, err
	}
	var out []Name
	for _, d := range domains {
		files, err := s.names(ctx, folder+"/"+d)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			selector, ok := strings.CutSuffix(f, suffix)
			if n, err := ParseName(d, selector); ok && err == nil {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

func (s *Store) names(ctx context.Context, dir string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	list, err := s.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Name
	}
	return out, nil
}
