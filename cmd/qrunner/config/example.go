package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Example writes every key with its documentation and its default: the text of
// config.example.yaml.
func Example(w io.Writer) error {
	_, err := io.WriteString(w, "# qrunner's configuration. Every key is here with its default; a file needs only\n"+
		"# what differs. Checked by 'qrunner config check', shown as in force by 'qrunner\n# config print'.\n\n")
	if err != nil {
		return err
	}
	return write(w, reflect.ValueOf(Default()), 0, true)
}

// Print writes c as YAML without documentation.
func Print(w io.Writer, c Config) error { return write(w, reflect.ValueOf(c), 0, false) }

func write(w io.Writer, v reflect.Value, depth int, docs bool) error {
	pad := strings.Repeat("  ", depth)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if docs {
			if depth == 0 && i > 0 {
				fmt.Fprintln(w)
			}
			for _, line := range wrap(f.Tag.Get("doc"), 78-len(pad)-2) {
				fmt.Fprintf(w, "%s# %s\n", pad, line)
			}
		}
		if f.Type.Kind() == reflect.Struct {
			fmt.Fprintf(w, "%s%s:\n", pad, f.Tag.Get("yaml"))
			if err := write(w, v.Field(i), depth+1, docs); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s\n", pad, f.Tag.Get("yaml"), scalar(v.Field(i))); err != nil {
			return err
		}
	}
	return nil
}

// Values is c for programs: the keys as they stand in the file, durations and sizes as
// they are written there.
func Values(c Config) map[string]any { return values(reflect.ValueOf(c)) }

func values(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		switch x := v.Field(i).Interface().(type) {
		case time.Duration:
			out[name] = short(x)
		case Size:
			out[name] = x.String()
		case map[string]Domain:
			domains := map[string]any{}
			for k, d := range x {
				domains[k] = values(reflect.ValueOf(d))
			}
			out[name] = domains
		default:
			if v.Field(i).Kind() == reflect.Struct {
				x = values(v.Field(i))
			}
			out[name] = x
		}
	}
	return out
}

// scalar is a value in flow style, on one line.
func scalar(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return quote(x)
	case time.Duration:
		return short(x)
	case Size:
		return x.String()
	case int:
		return fmt.Sprint(x)
	case bool:
		if x {
			return "yes"
		}
		return "no"
	case []string:
		parts := make([]string, len(x))
		for i, s := range x {
			parts[i] = quote(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return flow(v.Interface())
}

func flow(x any) string {
	var n yaml.Node
	if err := n.Encode(x); err != nil {
		return "{}"
	}
	restyle(&n)
	out, err := yaml.Marshal(&n)
	if err != nil {
		return "{}"
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func restyle(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		n.Style = yaml.FlowStyle
	} else {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		restyle(c)
	}
}

func quote(s string) string { return flow(s) }

// short writes a duration without its zero parts: 5m0s is 5m.
func short(d time.Duration) string {
	if d >= 48*time.Hour && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
