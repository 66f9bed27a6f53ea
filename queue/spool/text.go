package spool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
)

// How values stand in a header block. Whatever the value, it cannot end its line
// but by a line feed and a tab (several lines), so it cannot forge a field.

// foldText writes a value: as it is if every rune is printable, over several lines
// with a tab before each further one, or else quoted as in Go.
func foldText(v string) string {
	if strings.HasPrefix(v, `"`) {
		return strconv.Quote(v)
	}
	for i, line := range strings.Split(v, "\n") {
		if !plain(line) || i == 0 && (line == "" || strings.TrimSpace(line) != line) {
			return strconv.Quote(v)
		}
	}
	return strings.ReplaceAll(v, "\n", "\n\t")
}

// unfoldText reads what foldText wrote, continuation tabs already taken off.
func unfoldText(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	return s, nil
}

func plain(line string) bool {
	ascii := true
	for i := range len(line) {
		ascii = ascii && line[i] >= ' ' && line[i] < 0x7f
	}
	return ascii || utf8.ValidString(line) && !strings.ContainsFunc(line, func(r rune) bool {
		return r != '\t' && !unicode.IsPrint(r)
	})
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func parseTime(s string) (time.Time, error) { return time.Parse(time.RFC3339Nano, s) }

func parseYes(s string) (bool, error) {
	if s != "yes" {
		return false, errors.New(`neither absent nor "yes"`)
	}
	return true, nil
}

func formatPath(a mailaddr.Address) string { return "<" + string(a) + ">" }

func parsePath(s string) (mailaddr.Address, error) {
	if len(s) < 2 || s[0] != '<' || s[len(s)-1] != '>' {
		return "", errors.New("no angle brackets")
	}
	return mailaddr.Address(s[1 : len(s)-1]), nil
}

func parseList(s string) (lists.ID, error) {
	if s == string(lists.Site) {
		return lists.Site, nil
	}
	return lists.ParseID(s)
}

// formatRecipient is "<kind> <member id> <address>".
func formatRecipient(r *lists.Recipient) string {
	return string(r.Kind) + " " + strconv.FormatUint(uint64(r.Member), 10) + " " + string(r.Address)
}

func parseRecipient(s string) (lists.Recipient, error) {
	kind, rest, ok := strings.Cut(s, " ")
	num, addr, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 || kind == "" || addr == "" {
		return lists.Recipient{}, errors.New("not a kind, a number and an address")
	}
	n, err := strconv.ParseUint(num, 10, 64)
	if err != nil {
		return lists.Recipient{}, fmt.Errorf("member number: %w", err)
	}
	return lists.Recipient{Kind: lists.RecipientKind(kind), Member: lists.MemberID(n), Address: mailaddr.Address(addr)}, nil
}
