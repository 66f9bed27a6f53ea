package spool

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"qrunner/lists"
)

// A gap is written "<at> <encoding> <charset> <before> <after>", with base64 for octets and
// "-" for what is empty, and its text on the lines that follow:
//
//	Gap: 1234 7bit us-ascii - -
//		--
//		This copy is for $user_address.
//
// The text has LF for the line ends, which are CRLF in the message.

func getGaps(p *page) []string {
	out := make([]string, len(p.copies.Gaps))
	for i, g := range p.copies.Gaps {
		out[i] = formatGap(g)
	}
	return out
}

func formatGap(g lists.Gap) string {
	return strings.Join([]string{
		strconv.Itoa(g.At), dash(url.PathEscape(g.Encoding)), dash(url.PathEscape(g.Charset)),
		dash(base64.StdEncoding.EncodeToString(g.Before)), dash(base64.StdEncoding.EncodeToString(g.After)),
	}, " ") + "\n" + strings.ReplaceAll(g.Text, "\r\n", "\n")
}

func parseGap(v string) (lists.Gap, error) {
	head, text, ok := strings.Cut(v, "\n")
	words := strings.Split(head, " ")
	if !ok || len(words) != 5 {
		return lists.Gap{}, errors.New("not a place, two names, two texts in base64 and a text")
	}
	for i := range words {
		if words[i] == "-" {
			words[i] = ""
		}
	}
	g := lists.Gap{Text: strings.ReplaceAll(text, "\n", "\r\n")}
	var errs [5]error
	g.At, errs[0] = strconv.Atoi(words[0])
	g.Encoding, errs[1] = url.PathUnescape(words[1])
	g.Charset, errs[2] = url.PathUnescape(words[2])
	g.Before, errs[3] = octets(words[3])
	g.After, errs[4] = octets(words[4])
	if err := errors.Join(errs[:]...); err != nil {
		return lists.Gap{}, err
	}
	if g.At < 0 {
		return lists.Gap{}, fmt.Errorf("place %d", g.At)
	}
	return g, nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func octets(s string) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	return base64.StdEncoding.DecodeString(s)
}
