package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/store"
)

// addressBook is what people have set for an address on all lists. It is kept on the
// roster of the site's own list, and looked at again now and then.
type addressBook struct {
	read  func(context.Context, lists.ID) (*store.State, error)
	tried atomic.Bool
	known atomic.Pointer[addressPrefs]
}

// addressPrefs are preferences by the address's key, as one version of the state has them.
type addressPrefs struct {
	version uint64
	byKey   map[string]map[string]string
}

// find gives the preferences of an address. A process that keeps no book up to date looks
// at the share once; without an answer nobody has set anything.
func (b *addressBook) find(a mailaddr.Address) map[string]string {
	p := b.known.Load()
	if p == nil && b.tried.CompareAndSwap(false, true) && b.refresh(context.Background()) == nil {
		p = b.known.Load()
	}
	if p == nil || len(p.byKey) == 0 {
		return nil
	}
	return p.byKey[a.Key()]
}

// refresh looks at the share.
func (b *addressBook) refresh(ctx context.Context) error {
	st, err := b.read(ctx, lists.Site)
	if errors.Is(err, lists.ErrNoList) {
		return nil // a share of an older version
	}
	if err != nil {
		return err
	}
	if old := b.known.Load(); old != nil && old.version == st.Version() {
		return nil
	}
	next := &addressPrefs{version: st.Version(), byKey: map[string]map[string]string{}}
	for m := range st.List().Roster.All(lists.RoleMember) {
		next.byKey[m.Address.Key()] = m.Prefs
	}
	b.known.Store(next)
	return nil
}

// addressesEvery is how often the daemon looks whether somebody has set something.
const addressesEvery = 5 * time.Second

// keepAddresses keeps the book up to date until ctx ends.
func (d *daemon) keepAddresses(ctx context.Context) error {
	t := time.NewTicker(addressesEvery)
	defer t.Stop()
	ill := false
	for {
		err := d.addresses.refresh(ctx)
		if err != nil && ctx.Err() == nil && !ill {
			d.log.Warn("preferences of addresses cannot be read; the last known count", "err", err)
		}
		ill = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}
