package message

import (
	"mime"
	"strings"
)

// ContentType is a Content-Type field, read leniently.
type ContentType struct {
	Media  string            // "text/plain", in lower case
	Params map[string]string // names in lower case
}

// ContentType is the message's type; text/plain where none or nonsense is given
// (RFC 2045 §5.2).
func (m *Message) ContentType() ContentType {
	v := m.Get("Content-Type")
	media, params, err := mime.ParseMediaType(v)
	if err != nil || !strings.Contains(media, "/") {
		media, params = lenientType(v)
	}
	return ContentType{Media: media, Params: params}
}

// Charset is the named charset; "" if none is.
func (t ContentType) Charset() string { return t.Params["charset"] }

// lenientType takes out of a broken field what can be read.
func lenientType(v string) (string, map[string]string) {
	media, rest, _ := strings.Cut(v, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if i := strings.IndexAny(media, " \t"); i > 0 {
		media = media[:i]
	}
	kind, sub, ok := strings.Cut(media, "/")
	if !ok || kind == "" || sub == "" {
		media = "text/plain"
	}
	params := map[string]string{}
	for rest != "" {
		var name, value string
		name, rest, ok = strings.Cut(rest, "=")
		if !ok {
			break
		}
		if i := strings.LastIndexAny(name, "; \t"); i >= 0 {
			name = name[i+1:]
		}
		value, rest = paramValue(strings.TrimLeft(rest, " \t"))
		name = strings.ToLower(name)
		if _, twice := params[name]; !twice && name != "" {
			params[name] = value
		}
	}
	return media, params
}

// paramValue takes a quoted string or all up to the next semicolon.
func paramValue(s string) (value, rest string) {
	if strings.HasPrefix(s, `"`) {
		if i := strings.IndexByte(s[1:], '"'); i >= 0 {
			value = s[1 : i+1]
			_, rest, _ = strings.Cut(s[i+2:], ";")
			return value, rest
		}
		s = s[1:]
	}
	value, rest, _ = strings.Cut(s, ";")
	return strings.TrimSpace(value), rest
}
