package message

import (
	"mime"
	"path"
	"strings"
)

// FileNames is what the fields say that the part's file is called, in Content-Disposition
// and in Content-Type, decoded: readers differ in which they use. For decisions only,
// never to make a file of that name.
func (m *Message) FileNames() []string {
	var out []string
	for _, where := range []struct{ field, param string }{{"Content-Disposition", "filename"}, {"Content-Type", "name"}} {
		for _, v := range m.All(where.field) {
			_, params, err := mime.ParseMediaType(v)
			if err != nil {
				_, params = lenientType(v)
			}
			if name := DecodeHeader(params[where.param]); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// Extension is a file name's extension, in lower case and without the dot: dots, blanks
// and control characters at the end, which some systems ignore, do not count.
func Extension(name string) string {
	name = strings.TrimRightFunc(name, func(r rune) bool { return r <= ' ' || r == '.' })
	return strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
}
