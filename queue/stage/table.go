package stage

import (
	"context"
	"crypto/rand"
	"io"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/templates"
	"qrunner/locking/fsys"
	"qrunner/queue"
)

// Config is what the stages need to know of their host and site.
type Config struct {
	// Host names this host in trace fields.
	Host string
	// SiteOwner gets mail for the owners of a list that has none; null for nobody:
	// then such mail is parked.
	SiteOwner mailaddr.Address
	// FS is the share: the stage command reads held posts. Without it there is no such
	// stage.
	FS fsys.FS
	// Others gives the roster of another list of the site (lists.ErrNoList if there is
	// none), for rules that name one; nil: no list is known but the post's own.
	Others func(context.Context, lists.ID) (lists.Roster, error)
	// Directory gives the lists of a mail domain, for whoever asks what there are; nil: only
	// the list itself is known.
	Directory func(ctx context.Context, domain string) ([]*lists.List, error)
	// DMARC tells what domains publish; nil: nothing.
	DMARC lists.DMARC
	// Authority checks and makes signatures; nil: nobody does.
	Authority lists.Authority
	// Web is the base URL of the site's own pages; "": there are none.
	Web string
	// Templates has the texts; nil: those that are built in, and the share's if FS is set.
	Templates *templates.Set
	// Random gives the bits of tokens; nil: the system's.
	Random io.Reader
}

// Table is every stage there is. Queues that have none keep their mail.
func Table(c Config) map[queue.Name]queue.Processor {
	if c.Random == nil {
		c.Random = rand.Reader
	}
	c = c.withTemplates()
	t := map[queue.Name]queue.Processor{
		queue.In:       &in{c},
		queue.Pipeline: &pipeline{c},
		queue.Virgin:   &virgin{c},
		queue.Archive:  newArchiver(),
		queue.Bounces:  &bouncer{c},
	}
	if c.FS != nil {
		t[queue.Command] = &command{c}
		t[queue.Digest] = &digester{c}
	}
	return t
}
