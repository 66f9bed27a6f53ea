package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"qrunner/lists"
)

// decoder lays a YAML tree over a Config. It remembers on which line each key
// stood, for the checks that follow.
type decoder struct {
	file  string
	lines map[string]int
}

func (d *decoder) node(c *Config, doc *yaml.Node) error {
	if doc.Kind == yaml.DocumentNode {
		doc = doc.Content[0]
	}
	return d.value(reflect.ValueOf(c).Elem(), doc, "")
}

func (d *decoder) fail(n *yaml.Node, key, hint, format string, args ...any) error {
	return &Error{File: d.file, Line: n.Line, Key: key, Err: fmt.Errorf(format, args...), Hint: hint}
}

func (d *decoder) value(v reflect.Value, n *yaml.Node, key string) error {
	d.lines[key] = n.Line
	if n.Tag == "!!null" {
		return nil // an empty key keeps its default
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.section(v, n, key)
	case reflect.Map:
		return d.table(v, n, key)
	case reflect.Slice:
		return d.list(v, n, key)
	}
	if n.Kind != yaml.ScalarNode {
		return d.fail(n, key, "", "one value expected")
	}
	return d.scalar(v, n, key)
}

func (d *decoder) section(v reflect.Value, n *yaml.Node, key string) error {
	if n.Kind != yaml.MappingNode {
		return d.fail(n, key, "", "a section with keys expected")
	}
	names := keys(v.Type())
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		at := slices.Index(names, k.Value)
		full := join(key, k.Value)
		if at < 0 {
			return d.fail(k, full, "known here: "+strings.Join(names, ", "), "unknown key")
		}
		if seen[k.Value] {
			return d.fail(k, full, "", "stands here twice")
		}
		seen[k.Value] = true
		if err := d.value(v.Field(at), n.Content[i+1], full); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) table(v reflect.Value, n *yaml.Node, key string) error {
	if n.Kind != yaml.MappingNode {
		return d.fail(n, key, "", "names with values expected")
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(elem, n.Content[i+1], join(key, n.Content[i].Value)); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(n.Content[i].Value), elem)
	}
	return nil
}

func (d *decoder) list(v reflect.Value, n *yaml.Node, key string) error {
	if n.Kind == yaml.ScalarNode {
		v.Set(reflect.ValueOf([]string{n.Value}))
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return d.fail(n, key, "", "a list expected")
	}
	out := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return d.fail(item, key, "", "a list of plain values expected")
		}
		out = append(out, item.Value)
	}
	v.Set(reflect.ValueOf(out))
	return nil
}

func (d *decoder) scalar(v reflect.Value, n *yaml.Node, key string) error {
	var err error
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = n.Value
	case *int:
		if *p, err = strconv.Atoi(n.Value); err != nil {
			err = fmt.Errorf("%q is not a whole number", n.Value)
		}
	case *bool:
		switch n.Value {
		case "yes", "true":
			*p = true
		case "no", "false":
			*p = false
		default:
			err = fmt.Errorf("%q is neither yes nor no", n.Value)
		}
	case *time.Duration:
		*p, err = lists.ParseDuration(n.Value)
	case *Size:
		*p, err = ParseSize(n.Value)
	default:
		err = fmt.Errorf("no way to read a %s", v.Type())
	}
	if err != nil {
		return d.fail(n, key, "", "%w", err)
	}
	return nil
}

func keys(t reflect.Type) []string {
	out := make([]string, t.NumField())
	for i := range out {
		out[i] = t.Field(i).Tag.Get("yaml")
	}
	return out
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
