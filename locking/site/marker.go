package site

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxMarker bounds the marker, comments and all, in octets.
const maxMarker = 64 << 10

// marker is the file's text. Lines that start with "#" are for people.
const marker = `# This file marks the shared directory of a qrunner site. Without it qrunner takes
# the share for not mounted and touches nothing. Do not copy it into another one.
# Two lines: the site's id (32 hexadecimal digits) and the on-disk format's number.
id %s
format %d
`

func (m Marker) text() string { return fmt.Sprintf(marker, m.ID, m.Format) }

// parse reads a marker; format 1 and what later formats keep of it.
func parse(data []byte) (Marker, error) {
	var m Marker
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
		case key == "id" && m.ID == "":
			m.ID = value
		case key == "format" && m.Format == 0:
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil || n == 0 {
				return Marker{}, fmt.Errorf("bad format number %.20q", value)
			}
			m.Format = int(n)
		case m.Format <= Format:
			return Marker{}, fmt.Errorf("unknown line %.40q", line)
		}
	}
	if ok, _ := regexp.MatchString("^[0-9a-f]{32}$", m.ID); !ok {
		return Marker{}, fmt.Errorf("bad or no id %.40q", m.ID)
	}
	if m.Format == 0 {
		return Marker{}, errors.New("no format line")
	}
	return m, nil
}
