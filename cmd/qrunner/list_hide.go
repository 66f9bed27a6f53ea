package main

import (
	"bytes"
	"encoding/json"

	"qrunner/lists/store"
)

// hidden is a change without the secrets in it: tokens by which people decide or answer.
type hidden struct {
	store.Change
	shown json.RawMessage
}

// MarshalJSON gives what may be seen.
func (h hidden) MarshalJSON() ([]byte, error) { return h.shown, nil }

// hideTokens takes the tokens out of changes that are to be shown.
func hideTokens(in []store.Change) []store.Change {
	out := make([]store.Change, len(in))
	for i, c := range in {
		out[i] = c
		data, err := json.Marshal(c)
		if err != nil || !bytes.Contains(data, []byte(`"token"`)) {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err = d.Decode(&v); err == nil {
			data, err = json.Marshal(withoutTokens(v))
		}
		if err != nil {
			data = []byte(`"(cannot be shown)"`)
		}
		out[i] = hidden{c, data}
	}
	return out
}

func withoutTokens(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if s, text := x.(string); name == "token" && text && s != "" {
				v[name] = "(hidden)"
				continue
			}
			v[name] = withoutTokens(x)
		}
	case []any:
		for i := range v {
			v[i] = withoutTokens(v[i])
		}
	}
	return v
}
