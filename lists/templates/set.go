package templates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"

	"qrunner/lists"
)

// Set finds templates. The zero Set has those that are built in.
type Set struct {
	// Read gives the text of a file on the share, by its path from the share's root;
	// fs.ErrNotExist if there is none. nil: there are none.
	Read func(name string) (string, error)
	// SiteEmail is the variable site_email.
	SiteEmail string
	// Log is told, once for each, of templates that cannot be used; nil: nobody is.
	Log *slog.Logger

	said sync.Map // file and what is wrong with it
}

// Vars are the values of a template's own variables, by name.
type Vars map[string]string

// Scope is where a template comes from.
type Scope string

// SiteScope is for every list; BuiltinScope is qrunner's own.
const (
	SiteScope    Scope = "site"
	BuiltinScope Scope = "built in"
)

// DomainScope is for the lists of a mail domain.
func DomainScope(domain string) Scope { return Scope("domains/" + domain) }

// ListScope is for one list.
func ListScope(id lists.ID) Scope { return Scope("lists/" + string(id)) }

// File is where a template of one's own lies, from the share's root.
func File(s Scope, lang string, n Name) string {
	return path.Join("templates", string(s), lang, string(n)+".txt")
}

// Found is a template with where it comes from.
type Found struct {
	Name  Name
	Scope Scope
	Lang  string
	Text  string
	// Broken says what came first and could not be used.
	Broken []error
}

// Render shows a template to somebody who reads lang ("": the list's language). A
// template of the site's own that cannot be used is passed over: Text.Broken and the
// log say so. The error is trouble of the share; nothing else fails.
func (s *Set) Render(ctx context.Context, l *lists.List, n Name, lang string, vars Vars) (Text, error) {
	row, err := Lookup(n)
	if err != nil {
		return Text{}, err
	}
	values := s.values(l, row, vars)
	var out Text
	f, err := s.find(ctx, l, row, lang, func(f Found) error {
		values["language"] = f.Lang
		p, err := read(row, f.Text)
		if err == nil {
			out.Subject, out.Body, err = p.show(values)
		}
		return err
	})
	out.Found = f
	return out, err
}

// Find is the template that counts for a list and a language.
func (s *Set) Find(ctx context.Context, l *lists.List, n Name, lang string) (Found, error) {
	row, err := Lookup(n)
	if err != nil {
		return Found{}, err
	}
	return s.find(ctx, l, row, lang, func(f Found) error {
		_, err := read(row, f.Text)
		return err
	})
}

// find tries every place in order until use takes a text.
func (s *Set) find(ctx context.Context, l *lists.List, row Row, lang string, use func(Found) error) (Found, error) {
	var broken []error
	for _, lang := range fallbacks(lang, l.Settings.Text("preferred_language")) {
		for _, scope := range []Scope{ListScope(l.ID), DomainScope(l.ID.Domain()), SiteScope, BuiltinScope} {
			if err := ctx.Err(); err != nil {
				return Found{}, context.Cause(ctx)
			}
			f := Found{Name: row.Name, Scope: scope, Lang: lang, Broken: broken}
			var err error
			if f.Text, err = s.text(f); err == nil {
				err = use(f)
			}
			switch {
			case err == nil:
				return f, nil
			case errors.Is(err, fs.ErrNotExist):
			case !unusable(err):
				return Found{}, fmt.Errorf("read template %s: %w", File(scope, lang, row.Name), err)
			default:
				broken = append(broken, s.say(ctx, l.ID, File(scope, lang, row.Name), err))
			}
		}
	}
	return Found{}, fmt.Errorf("template %s: %w", row.Name, errors.Join(broken...)) // English is tested
}

func (s *Set) text(f Found) (string, error) {
	if f.Scope == BuiltinScope {
		text, ok := Builtin(f.Name, f.Lang)
		if !ok {
			return "", fs.ErrNotExist
		}
		return text, nil
	}
	if s.Read == nil {
		return "", fs.ErrNotExist
	}
	return s.Read(File(f.Scope, f.Lang, f.Name))
}

// unusable tells a template that is wrong, or closed to us, from trouble of the share
// that will pass.
func unusable(err error) bool {
	var p *fs.PathError
	return !errors.As(err, &p) || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrUnreadable)
}

// ErrUnreadable: a template's file cannot be read, and that will not pass.
var ErrUnreadable = errors.New("not a readable template")

func (s *Set) say(ctx context.Context, id lists.ID, file string, err error) error {
	err = fmt.Errorf("template %s: %w", file, err)
	if _, said := s.said.LoadOrStore(err.Error(), true); !said && s.Log != nil {
		s.Log.ErrorContext(ctx, "template cannot be used, another takes its place", "list", id, "err", err)
	}
	return err
}

// values are all variables of a template, without line ends that would not be ours.
func (s *Set) values(l *lists.List, row Row, vars Vars) map[string]string {
	local := l.ID.Local()
	name := l.Settings.Text("display_name")
	if name == "" && local != "" {
		name = strings.ToUpper(local[:1]) + local[1:]
	}
	out := map[string]string{
		"listname": string(l.ID.Posting()), "short_listname": local, "list_id": l.ID.ListID(), "domain": l.ID.Domain(),
		"display_name": name, "description": l.Settings.Text("description"), "info": l.Settings.Text("info"),
		"posting_address": string(l.ID.Posting()), "request_email": string(l.ID.Address(lists.SubRequest)),
		"owner_email": string(l.ID.Address(lists.SubOwner)), "subscribe_address": string(l.ID.Address(lists.SubJoin)),
		"unsubscribe_address": string(l.ID.Address(lists.SubLeave)), "site_email": s.SiteEmail,
	}
	for k, v := range vars {
		if slices.Contains(row.Vars, k) {
			out[k] = v
		}
	}
	for k, v := range out {
		out[k] = strings.ToValidUTF8(unix(strings.ReplaceAll(v, "\x00", "")), "\ufffd")
	}
	return out
}
