package config

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite config.example.yaml")

func TestExampleIsTheDefaults(t *testing.T) {
	const file = "../../../config.example.yaml"
	var want bytes.Buffer
	if err := Example(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.String(), string(got)); d != "" {
		t.Errorf("config.example.yaml is not what the code says (go test -run Example -update):\n%s", d)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Default(), c, cmp.Transformer("empty", func(m map[string]Domain) int { return len(m) }),
		cmp.Transformer("emptySettings", func(m map[string]string) int { return len(m) }),
		cmp.Transformer("emptyList", func(l []string) string { return strings.Join(l, " ") })); d != "" {
		t.Errorf("the example is not the defaults:\n%s", d)
	}
}

func TestPrintReadsBack(t *testing.T) {
	c := Default()
	c.Settings = map[string]string{"subject_prefix": "[X: \"y\"] "}
	c.Domains = map[string]Domain{"lists.example.com": {Settings: map[string]string{"footer": "a\nb"}}}
	c.LMTP.Listen = []string{"unix:/run/q.sock", "127.0.0.1:24"}
	var b bytes.Buffer
	if err := Print(&b, c); err != nil {
		t.Fatal(err)
	}
	got, err := Read("print", &b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, got, cmp.Transformer("list", func(l []string) string { return strings.Join(l, " ") })); d != "" {
		t.Error(d)
	}
}

func TestBadFiles(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"unknown key":      {"var: /x\nlock:\n  lifetme: 3s\n", "f.yaml:3: lock.lifetme: unknown key (known here: backend, lifetime"},
		"bad duration":     {"run:\n  poll: soon\n", `f.yaml:2: run.poll: "soon" is not a span of time`},
		"bad size":         {"limits: {message_size: big}\n", `f.yaml:1: limits.message_size: "big" is not a size`},
		"relative share":   {"\nvar: spool\n", "f.yaml:2: var: must be an absolute path"},
		"no YAML":          {"var: [\n", "f.yaml: yaml:"},
		"key twice":        {"var: /x\nvar: /y\n", "f.yaml:2: var: stands here twice"},
		"section as text":  {"lock: yes\n", "f.yaml:1: lock: a section with keys expected"},
		"lmtp on 25":       {"lmtp: {listen: ['0.0.0.0:25']}\n", "LMTP must not use port 25"},
		"lmtp port":        {"lmtp: {listen: ['127.0.0.1:99999']}\n", `f.yaml:1: lmtp.listen: "127.0.0.1:99999": port 99999 is not between 0 and 65535`},
		"smtp port":        {"smtp: {listen: ['127.0.0.1:-1']}\n", "port -1 is not between"},
		"smtp port's name": {"smtp: {listen: ['127.0.0.1:nosuch']}\n", `"nosuch" is no port`},
		"status port":      {"status: {listen: '127.0.0.1:'}\n", `"" is no port`},
		"smarthost port":   {"smarthost: {address: 'a:25, b:70000'}\n", `smarthost.address: "b:70000": port 70000`},
		"smarthost port 0": {"smarthost: {address: 'a:0'}\n", `"a:0" has no port`},
		"user alone":       {"smarthost: {user: x}\n", "user and password_file go together"},
		"password alone":   {"smarthost: {password_file: /x}\n", "f.yaml:1: smarthost.password_file: user and password_file go together"},
		"unknown setting":  {"settings: {colour: red}\n", `f.yaml:1: settings.colour: no setting "colour"`},
		"bad list setting": {"domains:\n  a.org:\n    settings:\n      emergency: maybe\n", `f.yaml:4: domains.a.org.settings.emergency: setting emergency: "maybe" is neither yes nor no`},
		"zookeeper alone":  {"lock: {backend: zookeeper}\n", "needs at least one server"},
		"retry order":      {"retry: {first: 2h, most: 1h}\n", "retry.most: must not be shorter"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read("f.yaml", strings.NewReader(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%T is not *Error", err)
			}
		})
	}
}

func TestMissingFileNamesTheRemedy(t *testing.T) {
	_, err := Load("/nonexistent/qrunner.yaml")
	if err == nil || !strings.Contains(err.Error(), "config.example.yaml") {
		t.Errorf("error %v", err)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("the cause is hidden")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("var: /x\n")
	f.Add("lock: {servers: [a, b], lifetime: 3s}\ndomains: {a: {settings: {footer: x}}}\n")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, in string) {
		c, err := Read("f", strings.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Print(&b, c); err != nil {
			t.Fatal(err)
		}
		if _, err := Read("again", &b); err != nil {
			t.Fatalf("printed form is refused: %v", err)
		}
	})
}

func TestCheckFiles(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := Default()
	c.Smarthost.PasswordFile = there
	if err := CheckFiles("f.yaml", c); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		there + ".not":      "no such file",
		filepath.Dir(there): "is a directory",
	} {
		c.Lock.KeyFile = name
		err := CheckFiles("f.yaml", c)
		if err == nil || !strings.HasPrefix(err.Error(), "f.yaml: lock.key_file: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
