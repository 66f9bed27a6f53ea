package keys

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"qrunner/lists/mailauth/dkim"
	"qrunner/locking/fsys"
)

// filePerm keeps the group out, which the rest of the share lets in.
const filePerm fs.FileMode = 0o600

// Add makes a key for an algorithm (dkim.RSA, dkim.Ed25519) and stores it; it is on
// stable storage when Add returns. ErrExists if the selector is taken, by whatever host.
func (s *Store) Add(ctx context.Context, n Name, alg string) (dkim.Signer, error) {
	if err := ctx.Err(); err != nil {
		return dkim.Signer{}, fmt.Errorf("make key %s: %w", n, err)
	}
	key, err := dkim.Generate(alg)
	if err != nil {
		return dkim.Signer{}, fmt.Errorf("make key %s: %w", n, err)
	}
	text, err := dkim.EncodePEM(key)
	if err != nil {
		return dkim.Signer{}, fmt.Errorf("make key %s: %w", n, err)
	}
	if err := s.publish(n, text); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = ErrExists
		}
		return dkim.Signer{}, fmt.Errorf("store key %s: %w", n, err)
	}
	return dkim.Signer{Domain: n.Domain, Selector: n.Selector, Key: key}, nil
}

// publish writes a file under a name of its own and links it: nobody reads half a key.
func (s *Store) publish(n Name, text []byte) error {
	if err := fsys.MkdirAll(s.fs, n.dir()); err != nil {
		return err
	}
	temp := n.dir() + "/." + rand.Text()
	if err := s.write(temp, text); err != nil {
		return errors.Join(err, fsys.RemoveAny(s.fs, temp))
	}
	err := fsys.Publish(s.fs, temp, n.path(), fsys.ByLink)
	return errors.Join(err, fsys.RemoveAny(s.fs, temp))
}

func (s *Store) write(name string, text []byte) error {
	f, err := s.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	err = f.Chmod(filePerm)
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
