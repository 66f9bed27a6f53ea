// Package copies makes the copies of a fan-out that differ from each other: the text of
// each recipient in the gaps of the body, To, the one-click unsubscribe URL, and over all
// of it the list's signatures.
//
// What is the same in all copies is made once, when the fan-out is opened: the header, the
// pieces between the gaps, and, if there are no gaps, the sum of the body that every
// signature covers.
package copies

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/mailauth"
	"qrunner/lists/mailauth/canon"
	"qrunner/lists/mailauth/oneclick"
	"qrunner/lists/message"
	"qrunner/lists/personal"
	"qrunner/queue"
)

// Config says where the values of recipients come from.
type Config struct {
	// List reads a list; lists.ErrNoList if it is gone.
	List func(ctx context.Context, id lists.ID) (*lists.List, error)
	// Keys makes what signs, as mailauth.Authority.Copier.
	Keys func(ctx context.Context, names []string, checked string) (*mailauth.Copier, error)
	// Web is the base URL of the site's pages, "" for none; Unsubscribe makes a member's
	// page below it.
	Web         string
	Unsubscribe func(ctx context.Context, l *lists.List) (func(lists.MemberID) string, error)
}

// Maker makes the copies of one fan-out. Any goroutine may use it.
type Maker struct {
	fan    *queue.Fanout
	list   *lists.List // nil: it is gone
	header []byte      // without the empty line
	pieces [][]byte    // of the body: one more than there are fills
	fills  []*personal.Fill
	size   int
	sum    canon.Sum // of a body without gaps
	page   func(lists.MemberID) string
	keys   *mailauth.Copier
	web    string
}

// Open prepares the copies of a fan-out: nil, and no error, if they do not differ.
func (c Config) Open(ctx context.Context, f *queue.Fanout) (queue.Copier, error) {
	if !f.Copies.Differ() {
		return nil, nil
	}
	m := &Maker{fan: f, web: c.Web}
	if err := m.cut(); err != nil {
		return nil, fmt.Errorf("make copies: %w", err)
	}
	var err error
	if m.list, err = c.List(ctx, f.List); err != nil && !errors.Is(err, lists.ErrNoList) {
		return nil, fmt.Errorf("make copies: %w", err)
	}
	if m.keys, err = c.Keys(ctx, f.Copies.Keys, f.Copies.Checked); err != nil {
		return nil, fmt.Errorf("make copies: %w", err)
	}
	if f.Copies.OneClick && c.Web != "" && m.list != nil {
		if m.page, err = c.Unsubscribe(ctx, m.list); err != nil {
			return nil, fmt.Errorf("make copies: %w", err)
		}
	}
	return m, nil
}

// errGap: a gap is not within the body.
var errGap = errors.New("a gap is outside the body")

// cut takes the message apart at its gaps.
func (m *Maker) cut() error {
	wire := message.Parse(m.fan.Raw).Wire()
	header, body, _ := bytes.Cut(wire, []byte("\r\n\r\n"))
	m.header = append(header, "\r\n"...)
	at := 0
	for _, g := range m.fan.Copies.Gaps {
		if g.At < at || g.At > len(body) {
			return fmt.Errorf("%w: %d", errGap, g.At)
		}
		m.pieces = append(m.pieces, body[at:g.At])
		m.fills = append(m.fills, personal.Compile(g))
		m.size += len(g.Text) + len(g.Before) + len(g.After)
		at = g.At
	}
	m.pieces = append(m.pieces, body[at:])
	m.size += len(wire)
	if len(m.fills) == 0 {
		m.sum = canon.BodySum(body, canon.Relaxed)
	}
	return nil
}

// room is what a copy leaves before its header for signatures, and within it for fields
// of its own, in octets.
const room = 2048

// Copy implements queue.Copier.
func (m *Maker) Copy(scratch *[]byte, r lists.Recipient) ([]byte, error) {
	if need := m.size + 3*room; cap(*scratch) < need {
		*scratch = make([]byte, 0, need)
	}
	buf := (*scratch)[:room]
	p := m.person(r)
	buf = append(buf, m.header...)
	buf = m.fields(buf, r, p)
	buf = append(buf, "\r\n"...)
	body := len(buf)
	for i, f := range m.fills {
		buf = f.Append(append(buf, m.pieces[i]...), p)
	}
	buf = append(buf, m.pieces[len(m.fills)]...)
	*scratch = buf
	if !m.keys.Signs() {
		return buf[room:], nil
	}
	sum := m.sum
	if len(m.fills) > 0 {
		sum = canon.BodySum(buf[body:], canon.Relaxed)
	}
	top, err := m.keys.Sign(message.Parse(buf[room:]), sum)
	if err != nil {
		return nil, fmt.Errorf("make copy for %s: %w", r.Address, err)
	}
	if len(top) > room {
		return append(top, buf[room:]...), nil
	}
	copy(buf[room-len(top):], top)
	return buf[room-len(top):], nil
}

// person is who a recipient is to the list now.
func (m *Maker) person(r lists.Recipient) *personal.Person {
	p := &personal.Person{Address: r.Address, Options: m.options()}
	if m.list == nil {
		return p
	}
	p.Language = m.list.Settings.Text("preferred_language")
	member, ok := m.list.Roster.ByID(r.Member)
	if !ok || r.Member == 0 {
		return p
	}
	p.Name, p.Language = member.Name, cmp.Or(m.list.Language(member), p.Language)
	return p
}

// options is where members see to their membership. It has no token: footers are quoted
// in answers, and answers are archived.
func (m *Maker) options() string {
	if m.web != "" {
		return oneclick.URL(m.web, m.fan.List, "")
	}
	return "mailto:" + string(m.fan.List.Address(lists.SubRequest)) + "?subject=help"
}

// fields appends the header fields that are the recipient's own.
func (m *Maker) fields(buf []byte, r lists.Recipient, p *personal.Person) []byte {
	if m.fan.Copies.Full {
		buf = append(buf, message.NewField("To", mailbox(p.Name, r.Address)).Raw...)
	}
	if !m.fan.Copies.OneClick {
		return buf
	}
	page := ""
	if m.page != nil && r.Kind == lists.KindMember && r.Member != 0 {
		page = m.page(r.Member)
	}
	if page == "" {
		return append(buf, "List-Unsubscribe: <mailto:"+string(m.fan.List.Address(lists.SubLeave))+">\r\n"...)
	}
	return append(buf, oneclick.Fields(page, m.fan.List)...)
}

// mailbox is an address with a name.
func mailbox(name string, a mailaddr.Address) string {
	if name == "" {
		return string(a)
	}
	return message.EncodePhrase(message.OneLine(name)) + " <" + string(a) + ">"
}
