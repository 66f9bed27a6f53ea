package smtpout

import (
	"bytes"
	"strconv"
	"strings"
)

// extensions is what a server announced in its answer to EHLO.
type extensions struct {
	pipelining, eightBit, utf8, startTLS, size, xverp bool
	limit                                             int // of SIZE; 0: none known
	auth                                              []string
}

// parseExtensions reads the answer to EHLO (RFC 5321 §4.1.1.1); its first line is
// the server's name.
func parseExtensions(lines []byte) extensions {
	var e extensions
	_, rest, _ := bytes.Cut(lines, []byte{'\n'})
	for line := range strings.Lines(string(rest)) {
		// "AUTH=LOGIN" is how it was written before RFC 2554.
		words := strings.Fields(strings.ToUpper(strings.Replace(line, "AUTH=", "AUTH ", 1)))
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "PIPELINING":
			e.pipelining = true
		case "8BITMIME":
			e.eightBit = true
		case "SMTPUTF8":
			e.utf8 = true
		case "XVERP":
			e.xverp = true
		case "STARTTLS":
			e.startTLS = true
		case "SIZE":
			e.size = true
			if len(words) > 1 {
				n, err := strconv.Atoi(words[1])
				if err == nil && n > 0 {
					e.limit = n
				}
			}
		case "AUTH":
			e.auth = append(e.auth, words[1:]...)
		}
	}
	return e
}
