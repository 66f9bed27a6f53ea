package spool

import (
	"context"
	"fmt"
	"path"

	"qrunner/lists"
	"qrunner/lists/store"
	"qrunner/locking/fsys"
)

// VerifyFiles compares the messages in a list's held/ and digest/ with what the list's
// state names, both ways. state gives the state, each time anew. As Verify it changes
// nothing, and an error is a trouble of the share.
func (s *Spool) VerifyFiles(ctx context.Context, id lists.ID, state func(context.Context, lists.ID) (*store.State, error)) ([]store.Finding, error) {
	return s.twice(func(v *verifier) error {
		st, err := state(ctx, id)
		if err != nil {
			return err
		}
		held, digest := map[string]string{}, map[string]string{}
		for _, p := range st.Held() {
			held[p.ID] = p.Sum
		}
		for _, p := range st.Digest().Posts {
			digest[p.ID] = p.Sum
		}
		coming := map[string]bool{}
		for _, ho := range st.Handovers() {
			for _, c := range ho.Children {
				coming[c.Target] = true
			}
		}
		if err := v.named(id, heldDir, held, coming, store.Unhold); err != nil {
			return fmt.Errorf("verify held posts: %w", err)
		}
		if err := v.named(id, digestDir, digest, coming, ""); err != nil {
			return fmt.Errorf("verify digest: %w", err)
		}
		return nil
	})
}

// named compares a folder with the sums of what it should have.
func (v *verifier) named(id lists.ID, folder string, want map[string]string, coming map[string]bool, lost store.Remedy) error {
	dir := listFile(id, folder, "")
	all, err := v.list(dir)
	if err != nil {
		return err
	}
	instead := ""
	if folder == heldDir {
		instead = ", or give it up with held discard"
	}
	for _, e := range all {
		name := path.Join(dir, e.Name)
		sum, ok := want[e.Name]
		if !ok {
			v.add(id, name, store.Orphan, "the list's state does not name it", store.Remove)
			continue
		}
		data, err := readClean(v.s.c.FS, name)
		switch {
		case fsys.Gone(err):
			continue
		case err != nil:
			return err
		case sum != "" && sumOf(data) != sum:
			v.add(id, name, store.Damaged, "the list's state has another checksum of it; restore it from a backup"+instead, "")
		}
	}
	for n := range want {
		name := listFile(id, folder, n)
		if _, there := fsys.Find(all, n); !there && !coming[name] {
			v.add(id, name, store.Missing, "the list's state names it; restore it from a backup", lost)
		}
	}
	return nil
}
