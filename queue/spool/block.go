package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The outer form of the spool's files, version 1:
//
//	qrunner entry 1
//	Name: value
//	Length: 1234
//	Sha256: 64 hexadecimal digits
//	(an empty line)
//	1234 octets, any
//	(a line feed) END (a line feed)
//
// Sha256 covers everything but its own line, the empty line and the end.
const (
	blockVersion = 1
	blockEnd     = "\nEND\n"
	lengthField  = "Length"
	sumField     = "Sha256"
)

type field struct{ name, value string }

// seal makes a file.
func seal(kind string, fields []field, body []byte) []byte {
	head := blockHead(kind, fields, len(body))
	out := make([]byte, 0, len(head)+len(body)+100)
	out = append(out, head...)
	out = append(out, sumField+": "+blockSum(head, body)+"\n\n"...)
	out = append(out, body...)
	return append(out, blockEnd...)
}

// blockHead is the header up to and including the length.
func blockHead(kind string, fields []field, length int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "qrunner %s %d\n", kind, blockVersion)
	for _, f := range fields {
		b.WriteString(f.name + ": " + foldText(f.value) + "\n")
	}
	b.WriteString(lengthField + ": " + strconv.Itoa(length) + "\n")
	return b.Bytes()
}

func blockSum(head, body []byte) string {
	h := sha256.New()
	h.Write(head)
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// split takes a file apart without believing length or checksum: fields include
// them; the body runs to the last END. Errors are about the form.
func split(kind string, data []byte) (fields []field, body []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte("\n\n"))
	if err := checkKind(kind, data); err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, errors.New("no empty line behind the header")
	}
	body, ok = bytes.CutSuffix(rest, []byte(blockEnd))
	if !ok {
		return nil, nil, errors.New("no END line")
	}
	lines := strings.Split(string(head), "\n")
	for _, line := range lines[1:] {
		if more, ok := strings.CutPrefix(line, "\t"); ok && len(fields) > 0 {
			fields[len(fields)-1].value += "\n" + more
			continue
		}
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, nil, fmt.Errorf("header line %.60q has no name", line)
		}
		fields = append(fields, field{name, value})
	}
	for i := range fields {
		if fields[i].value, err = unfoldText(fields[i].value); err != nil {
			return nil, nil, fmt.Errorf("field %.40q: %w", fields[i].name, err)
		}
	}
	return fields, body, nil
}

// checkKind looks at the first line.
func checkKind(kind string, data []byte) error {
	line, _, ok := bytes.Cut(data, []byte("\n"))
	if len(data) == 0 {
		return errors.New("empty file")
	}
	version, match := strings.CutPrefix(string(line), "qrunner "+kind+" ")
	n, err := strconv.ParseUint(version, 10, 31)
	if !ok || !match || err != nil || n == 0 || strconv.FormatUint(n, 10) != version {
		return fmt.Errorf(`first line is not "qrunner %s %d"`, kind, blockVersion)
	}
	if n > blockVersion {
		return fmt.Errorf("format %d: %w", n, ErrNewer)
	}
	return nil
}
