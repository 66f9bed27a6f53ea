package message

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// maxWord is the longest encoded-word (RFC 2047 §2), in octets.
const maxWord = 75

// DecodeHeader is a field's value as a person reads it: encoded-words (RFC 2047) of
// known charsets decoded, others left as they stand; raw octets that are no UTF-8
// read as Latin-1. The result is valid UTF-8 but may hold CR, LF or NUL: OneLine
// before it goes anywhere near a header or a log.
func DecodeHeader(value string) string {
	var b strings.Builder
	rest := value
	after := false // the last thing written was an encoded-word
	for rest != "" {
		i := strings.Index(rest, "=?")
		if i < 0 {
			break
		}
		n := wordLen(rest[i:])
		if n == 0 {
			b.WriteString(readable(rest[:i+2]))
			rest, after = rest[i+2:], false
			continue
		}
		gap := rest[:i]
		text, ok := decodeWord(rest[i : i+n])
		if !ok {
			text = readable(rest[i : i+n])
		}
		// Blanks between two encoded-words are not part of the text (§6.2).
		if !(after && ok && strings.TrimSpace(gap) == "") {
			b.WriteString(readable(gap))
		}
		b.WriteString(text)
		rest, after = rest[i+n:], ok
	}
	b.WriteString(readable(rest))
	return b.String()
}

// wordLen is the length of the encoded-word that s starts with, 0 if there is none.
// An encoding that is neither B nor Q still makes a word: one that stays as it is.
func wordLen(s string) int {
	if !strings.HasPrefix(s, "=?") {
		return 0
	}
	charset := 2 + tokenLen(s[2:])
	if charset == 2 || charset+3 > len(s) || s[charset] != '?' || s[charset+2] != '?' {
		return 0
	}
	text := charset + 3
	i := strings.IndexAny(s[text:], "? \t\r\n")
	if i < 0 || !strings.HasPrefix(s[text+i:], "?=") {
		return 0
	}
	return text + i + 2
}

// tokenLen counts the octets of a charset name (at most 64).
func tokenLen(s string) int {
	for i := range min(len(s), 64) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:"/[]?=`, c) >= 0 {
			return i
		}
	}
	return min(len(s), 64)
}

// decodeWord decodes one encoded-word; false if its charset or encoding is unknown.
func decodeWord(w string) (string, bool) {
	part := strings.SplitN(w[2:len(w)-2], "?", 3)
	charset, _, _ := strings.Cut(part[0], "*") // RFC 2231 §5: language
	var raw []byte
	switch part[1] {
	case "B", "b":
		raw = fromBase64([]byte(part[2]))
	case "Q", "q":
		raw = fromQuoted([]byte(strings.ReplaceAll(part[2], "_", " ")))
	default:
		return "", false
	}
	return ToUTF8(raw, charset)
}

// readable is s if it is UTF-8, else its octets read as Latin-1.
func readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

// EncodeHeader makes a value that a header can carry: text itself if it is plain
// ASCII, else UTF-8 in encoded-words of at most 75 octets, separated by blanks. CR,
// LF and NUL become blanks.
func EncodeHeader(text string) string {
	text = OneLine(strings.ToValidUTF8(text, "\uFFFD"))
	if plain(text) {
		return text
	}
	const head, tail = "=?utf-8?b?", "?="
	room := (maxWord - len(head) - len(tail)) / 4 * 3
	var words []string
	for text != "" {
		n := 0
		for n < len(text) {
			_, size := utf8.DecodeRuneInString(text[n:])
			if n+size > room {
				break
			}
			n += size
		}
		words = append(words, head+base64.StdEncoding.EncodeToString([]byte(text[:n]))+tail)
		text = text[n:]
	}
	return strings.Join(words, " ")
}

// plain reports whether s needs no encoding and cannot be taken for an encoded-word.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return !strings.Contains(s, "=?")
}

// EncodePhrase makes the display name of an address (RFC 5322 §3.2.5): a quoted
// string, or encoded-words.
func EncodePhrase(name string) string {
	name = OneLine(strings.ToValidUTF8(name, "\uFFFD"))
	if !plain(name) {
		return EncodeHeader(name)
	}
	if !strings.ContainsAny(name, `\"`) {
		return `"` + name + `"`
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}
