package handlers

import (
	"context"
	"net/url"
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// rfc2369 takes the List-* fields of others off and puts ours on. List-Id (RFC 2919)
// is always there: members' filters go by it.
func rfc2369(_ context.Context, p *lists.Post) error {
	m, l := p.Message, p.List
	m.DelFunc(func(f message.Field) bool { return strings.HasPrefix(strings.ToLower(f.Name), "list-") })
	m.Add("List-Id", listID(l))
	if !l.Settings.Bool("include_rfc2369_headers") {
		return nil
	}
	post := mailto(l.ID.Posting())
	if !l.Settings.Bool("allow_list_posts") {
		post = "NO"
	}
	m.Add("List-Post", post)
	m.Add("List-Help", "<mailto:"+string(l.ID.Address(lists.SubRequest))+"?subject=help>")
	m.Add("List-Subscribe", mailto(l.ID.Address(lists.SubJoin)))
	m.Add("List-Unsubscribe", mailto(l.ID.Address(lists.SubLeave)))
	m.Add("List-Owner", mailto(l.ID.Address(lists.SubOwner)))
	archived(p)
	return nil
}

// archived says where the archive, and in it the post, can be read (RFC 5064).
func archived(p *lists.Post) {
	base := expand(p.List, p.List.Settings.Text("archive_base_url"))
	if base == "" || p.List.Settings.Text("archive_policy") == "never" {
		return
	}
	p.Message.Add("List-Archive", "<"+base+">")
	if id := p.Message.MessageID(); id != "" && archives(p) {
		p.Message.Add("Archived-At", "<"+strings.TrimSuffix(base, "/")+"/"+url.PathEscape(id)+"/>")
	}
}

// mailto needs no escapes: a list's name has none of the characters that would.
func mailto(a mailaddr.Address) string { return "<mailto:" + string(a) + ">" }

func listID(l *lists.List) string {
	id := "<" + l.ID.ListID() + ">"
	if d := strings.TrimSpace(l.Settings.Text("description")); d != "" {
		return message.EncodePhrase(d) + " " + id
	}
	return id
}
