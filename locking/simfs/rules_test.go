package simfs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// The rules measured on kernel clients, a test each.

// tick goes on to the server's next timestamp: within one, v3 never sees a change.
func tick() { time.Sleep(20 * time.Millisecond) }

func TestRuleNegativeNameStays(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		_, err := r.b.Stat("x")
		r.want(err, syscall.ENOENT)
		tick()
		r.write(r.a, "x", "1")
		_, err = r.b.OpenFile("x", os.O_RDONLY, 0)
		r.want(err, syscall.ENOENT)
		r.want(r.b.Remove("x"), syscall.ENOENT)
		d := r.until(func() bool { _, err := r.b.Stat("x"); return err == nil })
		r.between(d, 15*time.Second, 31*time.Second)
	})
}

func TestRuleLookupCacheNoneCuresNames(t *testing.T) {
	both(t, simfs.Config{LookupCacheNone: true}, func(r *rig) {
		_, err := r.b.Stat("x")
		r.want(err, syscall.ENOENT)
		r.write(r.a, "x", "1")
		r.stat(r.b, "x")
		r.write(r.a, "y", "2")
		r.must(r.a.Link("x", "keep"))
		r.must(r.a.Rename("y", "x"))
		r.reads(r.b, "x", "2")
	})
}

func TestRuleNoACCuresStat(t *testing.T) {
	both(t, simfs.Config{NoAC: true}, func(r *rig) {
		_, err := r.b.Stat("x")
		r.want(err, syscall.ENOENT)
		tick()
		r.write(r.a, "x", "1")
		r.stat(r.b, "x")
	})
}

func TestRuleReplacedNameOpensOld(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "old")
		r.must(r.a.Link("x", "claim")) // it keeps a name, as a broken lock does
		r.write(r.a, "new", "new")
		r.reads(r.b, "x", "old")
		tick()
		r.must(r.a.Rename("new", "x"))
		r.reads(r.b, "x", "old")
		d := r.until(func() bool { return r.read(r.b, "x") == "new" })
		r.between(d, 15*time.Second, 31*time.Second)
	})
}

func TestRuleRenamedAwayOpensOld(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "old")
		r.reads(r.b, "x", "old")
		tick()
		r.must(r.a.Rename("x", "away"))
		r.reads(r.b, "x", "old")
		d := r.until(func() bool { _, err := r.b.OpenFile("x", os.O_RDONLY, 0); return err != nil })
		r.between(d, 15*time.Second, 31*time.Second)
	})
}

func TestRuleReplacedFileThatIsGoneIsLookedUpAgain(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "old")
		r.write(r.a, "new", "new")
		r.reads(r.b, "x", "old")
		r.must(r.a.Rename("new", "x"))
		r.reads(r.b, "x", "new")
	})
}

// hidden makes two files in one tick with a listing of b in between.
func hidden(r *rig) bool {
	r.must(r.a.Mkdir("d", 0o770))
	time.Sleep(time.Second)
	r.write(r.a, "d/1", "")
	r.names(r.b, "d")
	r.write(r.a, "d/2", "")
	time.Sleep(90 * time.Second)
	return !slices.Contains(r.names(r.b, "d"), "2")
}

func TestRuleV3ListingHides(t *testing.T) {
	for _, cfg := range []simfs.Config{{}, {NoAC: true}, {LookupCacheNone: true}} {
		cfg.Version = simfs.V3
		t.Run(fmt.Sprintf("noac %v lookupcache=none %v", cfg.NoAC, cfg.LookupCacheNone), func(t *testing.T) {
			bubble(t, cfg, func(r *rig) {
				if !hidden(r) {
					r.Fatal("the second file was listed")
				}
				r.want(r.b.Remove("d"), syscall.ENOTEMPTY)
				d, err := r.b.OpenDir("d")
				r.must(err)
				r.must(d.Touch())
				if got := r.names(r.b, "d"); len(got) != 2 {
					r.Fatalf("after a touch: %v", got)
				}
			})
		})
	}
}

func TestRuleV3ListingHealsByAnothersChange(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(r *rig) {
		if !hidden(r) {
			r.Fatal("the second file was listed")
		}
		r.write(r.a, "d/3", "")
		if got := r.names(r.b, "d"); len(got) != 3 {
			r.Fatalf("got %v", got)
		}
	})
}

func TestRuleV42ListingDoesNotHide(t *testing.T) {
	bubble(t, simfs.Config{}, func(r *rig) {
		if hidden(r) {
			r.Fatal("the second file was not listed")
		}
	})
}

func TestRuleListingIsFreshOtherwise(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		for i := range 5 {
			name := fmt.Sprint(i)
			r.write(r.a, name, "")
			if got := r.names(r.b, "."); !slices.Contains(got, name) {
				r.Fatalf("%s is not in %v", name, got)
			}
			tick()
		}
	})
}

func TestRuleOwnLinkDropsCachedName(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		_, err := r.b.Stat("lock")
		r.want(err, syscall.ENOENT)
		r.write(r.a, "lock", "a")
		r.write(r.b, "claim", "b")
		// b's own change of the folder was in the same tick on v3; the link is what
		// makes the name fresh.
		r.want(r.b.Link("claim", "lock"), syscall.EEXIST)
		r.reads(r.b, "lock", "a")
		r.must(r.b.Remove("lock"))
		r.must(r.b.Link("claim", "lock"))
		r.reads(r.b, "lock", "b")
	})
}

func TestRuleOwnChangeMakesListingFresh(t *testing.T) {
	bubble(t, simfs.Config{Version: simfs.V3}, func(r *rig) {
		r.names(r.b, ".")
		r.write(r.a, "1", "")
		r.names(r.b, ".")
		r.write(r.a, "2", "") // hidden, being in the same tick
		if got := r.names(r.b, "."); slices.Contains(got, "2") {
			r.Fatalf("not hidden: %v", got)
		}
		r.write(r.b, "3", "")
		if got := r.names(r.b, "."); len(got) != 3 {
			r.Fatalf("got %v", got)
		}
	})
}

func TestRuleTouchMakesAttributesFresh(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "claim", "a")
		r.must(r.b.Link("claim", "lock"))
		if n := r.stat(r.a, "claim").Nlink; n != 1 {
			r.Fatalf("stat knew of the other host's link at once: %d", n)
		}
		now, info, err := fsys.ServerNow(r.a, "claim")
		r.must(err)
		if info.Nlink != 2 || now.Sub(r.srv.Now()).Abs() > 10*time.Millisecond {
			r.Fatalf("links %d, now %v, server %v", info.Nlink, now, r.srv.Now())
		}
	})
}

func TestRuleStatIsStale(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.stat(r.b, "x")
		r.write(r.a, "x", "123")
		d := r.until(func() bool { return r.stat(r.b, "x").Size == 3 })
		r.between(d, 2*time.Second, 4*time.Second)
	})
}

func TestRuleCloseToOpen(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		r.reads(r.b, "x", "1")
		tick()
		r.write(r.a, "x", "22")
		f := r.open(r.b, "x")
		info, err := f.Stat()
		r.must(err)
		if info.Size != 2 {
			r.Fatalf("size %d after open", info.Size)
		}
		r.must(f.Close())
		r.reads(r.b, "x", "22")
	})
}

func TestRuleFailedLinkOnV42LeavesOldCount(t *testing.T) {
	test := func(want uint64) func(r *rig) {
		return func(r *rig) {
			r.write(r.a, "claim", "a")
			r.must(r.b.Link("claim", "lock"))
			r.want(r.a.Link("claim", "lock"), syscall.EEXIST)
			if n := r.stat(r.a, "claim").Nlink; n != want {
				r.Fatalf("links %d, want %d", n, want)
			}
		}
	}
	bubble(t, simfs.Config{Version: simfs.V3}, test(2))
	bubble(t, simfs.Config{}, test(1))
}

// silly returns the .nfs names in the root.
func silly(r *rig) (list []string) {
	for _, n := range r.names(r.srv.Observer(), ".") {
		if strings.HasPrefix(n, ".nfs") {
			list = append(list, n)
		}
	}
	return list
}

func TestRuleSillyRenameOnUnlink(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		f := r.open(r.a, "x")
		r.must(r.a.Remove("x"))
		if len(silly(r)) != 1 {
			r.Fatalf("silly names: %v", silly(r))
		}
		_, err := r.a.Stat("x")
		r.want(err, syscall.ENOENT)
		r.must(f.Close())
		if len(silly(r)) != 0 {
			r.Fatalf("after close: %v", silly(r))
		}
	})
}

func TestRuleSillyRenameOnRenameOver(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "claim", "a")
		r.must(r.a.Link("claim", "lock"))
		f := r.open(r.b, "lock") // somebody on the breaker's host looks at it
		r.write(r.b, "claim2", "b")
		r.must(r.b.Rename("claim2", "lock"))
		if _, info, _ := fsys.ServerNow(r.a, "claim"); info.Nlink != 2 || len(silly(r)) != 1 {
			r.Fatalf("the old claim has %d links, silly %v", info.Nlink, silly(r))
		}
		r.must(f.Close())
		if _, info, _ := fsys.ServerNow(r.a, "claim"); info.Nlink != 1 {
			r.Fatalf("after close the old claim has %d links", info.Nlink)
		}
	})
}

func TestRuleSillyNameStaysAfterCrash(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		f := r.open(r.a, "x")
		r.must(r.a.Remove("x"))
		r.a.Crash()
		_ = f.Close()
		if len(silly(r)) != 1 {
			r.Fatalf("silly names: %v", silly(r))
		}
	})
}

func TestRuleStaleHandle(t *testing.T) {
	test := func(want string) func(r *rig) {
		return func(r *rig) {
			r.write(r.a, "x", "1")
			f := r.open(r.b, "x")
			r.must(r.a.Remove("x"))
			time.Sleep(4 * time.Second)
			buf := make([]byte, 9)
			n, err := f.Read(buf)
			if want == "" {
				r.want(err, syscall.ESTALE)
			} else if string(buf[:n]) != want {
				r.Fatalf("read %q, %v", buf[:n], err)
			}
			r.must(f.Close())
		}
	}
	t.Run("v3", func(t *testing.T) { bubble(t, simfs.Config{Version: simfs.V3}, test("")) })
	t.Run("v4.2", func(t *testing.T) { bubble(t, simfs.Config{}, test("1")) })
}

func TestRuleFolderRemovedByAnother(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.must(r.a.Mkdir("d", 0o770))
		r.write(r.b, "x", "1")
		d, err := r.b.OpenDir("d")
		r.must(err)
		r.must(r.a.Remove("d"))
		r.must(r.a.Mkdir("d", 0o770))
		r.want(d.Link("x", "y"), syscall.ESTALE)
		_, err = d.ReadDir()
		r.want(err, syscall.ESTALE)
		r.must(fsys.Publish(r.b, "x", "d/y", fsys.ByLink)) // by path it is found again
		r.must(d.Close())
	})
}

func TestRuleInodeIsReused(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.write(r.a, "x", "1")
		old := r.stat(r.a, "x")
		r.must(r.a.Remove("x"))
		r.write(r.b, "y", "2")
		if now := r.stat(r.b, "y"); !now.SameFile(old) {
			r.Fatalf("inode %d, then %d", old.Ino, now.Ino)
		}
		_, err := r.a.Stat("x")
		r.want(err, syscall.ENOENT)
	})
}

func TestRuleNameMax(t *testing.T) {
	both(t, simfs.Config{}, func(r *rig) {
		r.want(r.a.Mkdir(strings.Repeat("n", 256), 0o770), syscall.ENAMETOOLONG)
		r.must(r.a.Mkdir(strings.Repeat("n", 255), 0o770))
	})
}

func TestRuleTimestampsAreTheServers(t *testing.T) {
	both(t, simfs.Config{MtimeGrain: time.Second}, func(r *rig) {
		r.srv.SetClock(-time.Hour)
		r.a.SetClock(time.Hour)
		r.write(r.a, "x", "1")
		now, _, err := fsys.ServerNow(r.a, "x")
		r.must(err)
		if d := time.Until(now); d > -time.Hour || d <= -time.Hour-time.Second {
			r.Fatalf("server time is off by %v", d)
		}
		if now.Nanosecond() != 0 {
			r.Fatalf("grain: %v", now)
		}
		mine := r.a.Clock()()
		r.must(r.a.SetMtime("x", mine))
		if got := r.stat(r.a, "x").Mtime; !got.Equal(mine) || time.Until(mine) != time.Hour {
			r.Fatalf("mtime %v, set %v", got, mine)
		}
	})
}
