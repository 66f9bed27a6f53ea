package spool

import (
	"fmt"
	"strconv"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/queue"
)

// page is what a header block can say: an entry's fields, and a fan-out's.
type page struct {
	queue.Entry
	fanout  bool // of kind "fanout"
	verp    bool
	form    bool // of VERP: readable
	bulk    bool
	copies  lists.Copies
	bounces mailaddr.Address
	count   int    // of recipients
	sum     string // of the recipients file's index
}

// row is one kind of field: its values in a page (none: no line), and how a value
// gets into a page.
type row struct {
	name string
	get  func(p *page) []string
	set  func(p *page, v string) error
}

// rows is every field, in the order of the file.
var rows = []row{
	{"Id", func(p *page) []string { return word(p.ID) }, func(p *page, v string) error { return into(&p.ID, v, queue.ParseID) }},
	{"Queue", func(p *page) []string { return word(p.Queue) }, func(p *page, v string) error { return into(&p.Queue, v, queue.ParseName) }},
	{"List", func(p *page) []string { return word(p.List) }, func(p *page, v string) error { return into(&p.List, v, parseList) }},
	{"Target", func(p *page) []string { return word(p.Target.List) }, func(p *page, v string) error { return into(&p.Target.List, v, parseList) }},
	{"Sub", func(p *page) []string { return word(p.Target.Sub) }, func(p *page, v string) error { return into(&p.Target.Sub, v, as[lists.SubAddress]) }},
	{"Extra", func(p *page) []string { return word(p.Target.Extra) }, func(p *page, v string) error { return into(&p.Target.Extra, v, as[string]) }},
	{"Sender", func(p *page) []string { return []string{formatPath(p.Sender)} }, func(p *page, v string) error { return into(&p.Sender, v, parsePath) }},
	{"Received", func(p *page) []string { return when(p.Received) }, func(p *page, v string) error { return into(&p.Received, v, parseTime) }},
	{"Source", func(p *page) []string { return word(p.Source) }, func(p *page, v string) error { return into(&p.Source, v, as[string]) }},
	{"UTF8", func(p *page) []string { return yes(p.UTF8) }, func(p *page, v string) error { return into(&p.UTF8, v, parseYes) }},
	{"8bit", func(p *page) []string { return yes(p.EightBit) }, func(p *page, v string) error { return into(&p.EightBit, v, parseYes) }},
	{"Trace", func(p *page) []string { return word(p.Trace) }, func(p *page, v string) error { return into(&p.Trace, v, as[string]) }},
	{"Recipient", getRecipients, setRecipient},
	{"Approved", func(p *page) []string { return yes(p.Meta.Approved) }, func(p *page, v string) error { return into(&p.Meta.Approved, v, parseYes) }},
	{"Approved-By", func(p *page) []string { return word(p.Meta.ApprovedBy) }, func(p *page, v string) error { return into(&p.Meta.ApprovedBy, v, as[string]) }},
	{"Post-Id", func(p *page) []string { return number(p.Meta.PostID) }, func(p *page, v string) error { return into(&p.Meta.PostID, v, parseUint) }},
	{"Cause", func(p *page) []string { return word(p.Meta.Cause) }, func(p *page, v string) error { return into(&p.Meta.Cause, v, as[string]) }},
	{"Count", func(p *page) []string { return number(uint64(p.Meta.Count)) }, func(p *page, v string) error { return into(&p.Meta.Count, v, strconv.Atoi) }},
	{"First", func(p *page) []string { return when(p.Meta.First) }, func(p *page, v string) error { return into(&p.Meta.First, v, parseTime) }},
	{"Last", func(p *page) []string { return when(p.Meta.Last) }, func(p *page, v string) error { return into(&p.Meta.Last, v, parseTime) }},
	{"From", func(p *page) []string { return word(p.Meta.From) }, func(p *page, v string) error { return into(&p.Meta.From, v, queue.ParseName) }},
	{"Web", func(p *page) []string { return word(p.Meta.Web) }, func(p *page, v string) error { return into(&p.Meta.Web, v, as[string]) }},
	{"Archiver", func(p *page) []string { return word(p.Meta.Archiver) }, func(p *page, v string) error { return into(&p.Meta.Archiver, v, as[string]) }},
	{"Bounce-Recipient", getBounce(func(b *queue.Bounce) []string { return []string{formatRecipient(&b.Recipient)} }),
		func(p *page, v string) error { return into(&p.bounce().Recipient, v, parseRecipient) }},
	{"Bounce-Reply", getBounce(func(b *queue.Bounce) []string { return word(b.Reply) }),
		func(p *page, v string) error { return into(&p.bounce().Reply, v, as[string]) }},
	{"Bounce-Phase", getBounce(func(b *queue.Bounce) []string { return word(b.Phase) }),
		func(p *page, v string) error { return into(&p.bounce().Phase, v, as[string]) }},
	{"VERP", func(p *page) []string { return yes(p.verp) }, func(p *page, v string) error { return into(&p.verp, v, parseYes) }},
	{"Readable", func(p *page) []string { return yes(p.form) }, func(p *page, v string) error { return into(&p.form, v, parseYes) }},
	{"Full", func(p *page) []string { return yes(p.copies.Full) }, func(p *page, v string) error { return into(&p.copies.Full, v, parseYes) }},
	{"One-Click", func(p *page) []string { return yes(p.copies.OneClick) }, func(p *page, v string) error { return into(&p.copies.OneClick, v, parseYes) }},
	{"Key", func(p *page) []string { return p.copies.Keys }, addTo(func(p *page) *[]string { return &p.copies.Keys }, as[string])},
	{"Checked", func(p *page) []string { return word(p.copies.Checked) }, func(p *page, v string) error { return into(&p.copies.Checked, v, as[string]) }},
	{"Gap", getGaps, addTo(func(p *page) *[]lists.Gap { return &p.copies.Gaps }, parseGap)},
	{"Bulk", func(p *page) []string { return yes(p.bulk) }, func(p *page, v string) error { return into(&p.bulk, v, parseYes) }},
	{"Bounces", getFanout(func(p *page) string { return formatPath(p.bounces) }), func(p *page, v string) error { return into(&p.bounces, v, parsePath) }},
	{"Recipients", getFanout(func(p *page) string { return strconv.Itoa(p.count) }), func(p *page, v string) error { return into(&p.count, v, strconv.Atoi) }},
	{"Recipients-Sha256", getFanout(func(p *page) string { return p.sum }), func(p *page, v string) error { return into(&p.sum, v, as[string]) }},
}

// fields lists the page's fields in order.
func (p *page) fields() []field {
	var out []field
	for _, r := range rows {
		for _, v := range r.get(p) {
			out = append(out, field{r.name, v})
		}
	}
	return out
}

// read puts fields into the page, in whatever order they come; length and checksum
// are left to the caller.
func (p *page) read(fields []field) error {
	known := make(map[string]row, len(rows))
	for _, r := range rows {
		known[r.name] = r
	}
	for _, f := range fields {
		r, ok := known[f.name]
		switch {
		case ok:
			if err := r.set(p, f.value); err != nil {
				return fmt.Errorf("field %s: %w", f.name, err)
			}
		case f.name != lengthField && f.name != sumField:
			return fmt.Errorf("unknown field %.40q", f.name)
		}
	}
	return nil
}
