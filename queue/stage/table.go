package stage

import (
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// Config is what the stages need to know of their host and site.
type Config struct {
	// Host names this host in trace fields.
	Host string
	// SiteOwner gets mail for the owners of a list that has none; null for nobody:
	// then such mail is parked.
	SiteOwner mailaddr.Address
}

// Table is every stage there is. Queues that have none keep their mail.
func Table(c Config) map[queue.Name]queue.Processor {
	return map[queue.Name]queue.Processor{
		queue.In:       &in{c},
		queue.Pipeline: &pipeline{c},
		queue.Virgin:   &virgin{c},
		queue.Archive:  archiver{},
	}
}
