package templates

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"
)

// MaxSize is the longest template of one's own, in octets.
const MaxSize = 64 << 10

// conditions are the functions that an {{if}} may ask.
var conditions = []string{"not", "and", "or", "eq", "ne"}

// parsed is a template that can be shown.
type parsed struct {
	subject, body *template.Template
}

// Check says what is wrong with a template's text; nil: nothing.
func Check(n Name, text string) error {
	row, err := Lookup(n)
	if err != nil {
		return err
	}
	p, err := read(row, text)
	if err != nil {
		return err
	}
	_, _, err = p.show(nil)
	return err
}

// read takes a template's text apart. Nothing but what the package comment allows
// comes through.
func read(row Row, text string) (parsed, error) {
	switch {
	case len(text) > MaxSize:
		return parsed{}, fmt.Errorf("longer than %d octets", MaxSize)
	case !utf8.ValidString(text):
		return parsed{}, errors.New("not UTF-8")
	case strings.ContainsRune(text, 0):
		return parsed{}, errors.New("a NUL octet")
	}
	text = unix(strings.TrimPrefix(text, "\ufeff"))
	var p parsed
	var err error
	if !row.Bare {
		head, body, _ := strings.Cut(text, "\n")
		subject, ok := strings.CutPrefix(head, "Subject:")
		if !ok {
			return parsed{}, errors.New(`the first line must be "Subject: ..."`)
		}
		if p.subject, err = compile(row, strings.TrimSpace(subject)); err != nil {
			return parsed{}, fmt.Errorf("subject: %w", err)
		}
		text = strings.TrimLeft(body, "\n")
	}
	p.body, err = compile(row, text)
	return p, err
}

func compile(row Row, text string) (*template.Template, error) {
	t, err := template.New(string(row.Name)).Option("missingkey=zero").Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "template: "+string(row.Name)+":"))
	}
	if len(t.Templates()) > 1 {
		return nil, errors.New("{{define}} and {{block}} are not for these templates")
	}
	if t.Tree == nil { // no text at all
		return t, nil
	}
	return t, checkList(row, t.Root)
}

func checkList(row Row, list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, n := range list.Nodes {
		if err := checkNode(row, n); err != nil {
			return err
		}
	}
	return nil
}

func checkNode(row Row, n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode, *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 && len(n.Pipe.Cmds) == 1 && len(n.Pipe.Cmds[0].Args) == 1 {
			return checkVariable(row, n.Pipe.Cmds[0].Args[0])
		}
	case *parse.IfNode:
		if err := checkCondition(row, n.Pipe); err != nil {
			return err
		}
		if err := checkList(row, n.List); err != nil {
			return err
		}
		return checkList(row, n.ElseList)
	}
	return fmt.Errorf("%s: only variables and {{if}} are for these templates", n)
}

func checkVariable(row Row, n parse.Node) error {
	f, ok := n.(*parse.FieldNode)
	if !ok || len(f.Ident) != 1 {
		return fmt.Errorf("%s is no variable", n)
	}
	if !row.has(f.Ident[0]) {
		return fmt.Errorf("%s has no variable %q (it has %s)", row.Name, f.Ident[0], strings.Join(slices.Concat(row.Vars, Common), ", "))
	}
	return nil
}

func checkCondition(row Row, p *parse.PipeNode) error {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 {
		return fmt.Errorf("%s: too much for a condition", p)
	}
	args := p.Cmds[0].Args
	if f, ok := args[0].(*parse.IdentifierNode); ok {
		if !slices.Contains(conditions, f.Ident) {
			return fmt.Errorf("%s: not for these templates", f)
		}
		args = args[1:]
	} else if len(args) > 1 {
		return fmt.Errorf("%s: too much for a condition", p)
	}
	for _, a := range args {
		switch a := a.(type) {
		case *parse.StringNode:
		case *parse.PipeNode: // (eq .a "b")
			if err := checkCondition(row, a); err != nil {
				return err
			}
		default:
			if err := checkVariable(row, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// show inserts the values.
func (p parsed) show(values map[string]string) (subject, body string, err error) {
	var b strings.Builder
	if p.subject != nil {
		if err := p.subject.Execute(&b, values); err != nil {
			return "", "", fmt.Errorf("subject: %w", err)
		}
		subject = strings.Join(strings.Fields(b.String()), " ")
		b.Reset()
	}
	if err := p.body.Execute(&b, values); err != nil {
		return "", "", fmt.Errorf("text: %w", err)
	}
	body = b.String()
	if p.subject != nil { // a whole mail ends with its last line
		body = strings.TrimRight(body, "\n") + "\n"
	}
	return subject, body, nil
}

func unix(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
