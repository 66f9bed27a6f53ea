package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"qrunner/lists"
	"qrunner/lists/templates"
)

type templateCmd struct {
	Ls    templateLsCmd    `cmd:"" help:"Every template, and where it comes from."`
	Show  templateShowCmd  `cmd:"" help:"One template's text."`
	Edit  templateEditCmd  `cmd:"" help:"Put one of one's own in a template's place."`
	Check templateCheckCmd `cmd:"" help:"Can all templates of one's own be used?"`
}

// shownTemplate is one line of template ls.
type shownTemplate struct {
	Name   templates.Name  `json:"name"`
	From   templates.Scope `json:"from"`
	Lang   string          `json:"language"`
	Vars   []string        `json:"variables"`
	Doc    string          `json:"doc"`
	Broken []string        `json:"broken,omitempty"`
}

type templateLsCmd struct {
	List string `arg:"" optional:"" help:"Posting address; none: the site's templates."`
	Lang string `help:"For a reader of this language; default: the list's."`
}

// Run prints the templates that count for a list.
func (c *templateLsCmd) Run(ctx context.Context, a *app) error {
	l, err := a.listOrSite(ctx, c.List)
	if err != nil {
		return err
	}
	var out []shownTemplate
	for _, row := range templates.Table {
		f, err := a.house.texts.Find(ctx, l, row.Name, c.Lang)
		if err != nil {
			return err
		}
		s := shownTemplate{Name: row.Name, From: f.Scope, Lang: f.Lang, Vars: row.Vars, Doc: row.Doc}
		for _, b := range f.Broken {
			s.Broken = append(s.Broken, b.Error())
		}
		out = append(out, s)
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tFROM\tLANGUAGE\tWHAT")
		for _, s := range out {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.From, s.Lang, s.Doc)
		}
	})
}

type templateShowCmd struct {
	Name templates.Name `arg:"" help:"Template, such as list:user:notice:welcome."`
	List string         `help:"As it counts for this list; default: for the site." placeholder:"ADDRESS"`
	Lang string         `help:"For a reader of this language; default: the list's."`
}

// Run prints the text; where it comes from and what it can show go with --json.
func (c *templateShowCmd) Run(ctx context.Context, a *app) error {
	row, err := templates.Lookup(c.Name)
	if err != nil {
		return &usageError{err}
	}
	l, err := a.listOrSite(ctx, c.List)
	if err != nil {
		return err
	}
	f, err := a.house.texts.Find(ctx, l, c.Name, c.Lang)
	if err != nil {
		return err
	}
	if a.json {
		return a.print(struct {
			Name templates.Name  `json:"name"`
			From templates.Scope `json:"from"`
			Lang string          `json:"language"`
			Vars []string        `json:"variables"`
			Text string          `json:"text"`
		}{f.Name, f.Scope, f.Lang, append(row.Vars[:len(row.Vars):len(row.Vars)], templates.Common...), f.Text}, nil)
	}
	_, err = io.WriteString(a.std.out, f.Text)
	return err
}

// listOrSite is the list of an address, or a list that stands for them all.
func (a *app) listOrSite(ctx context.Context, address string) (*lists.List, error) {
	if strings.TrimSpace(address) != "" {
		st, err := a.read(ctx, address)
		if err != nil {
			return nil, err
		}
		return st.List(), nil
	}
	h, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	st, err := h.store.Read(ctx, lists.Site)
	if err != nil {
		return nil, fmt.Errorf("read the site's list: %w", err)
	}
	return st.List(), nil
}
