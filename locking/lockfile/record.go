package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"qrunner/locking/hosts"
)

// magic opens every record; its number is the format's version.
const magic = "qrunner-lock 1"

// maxRecord is the most that is read of a lock; what is longer was never one.
const maxRecord = 4 << 10

// maxNote bounds the free text in a record.
const maxNote = 120

// record is the content of a claim, and so of a lock. It is complete before the claim
// is linked and never written again: what changes is the mtime.
type record struct {
	Owner    hosts.Identity // without its Nonce and Registered
	Nonce    string         // 128 random bits in hex: names this incarnation of the lock
	Claim    string         // base name of the claim
	Lifetime time.Duration
	Since    time.Time // when the claim was made, by the server's clock
	Note     string
}

// The ways in which content is not a record.
var (
	// errTorn: ours, but not complete, as after a power cut. It counts as a lock
	// whose lifetime is the default, never as nothing.
	errTorn = errors.New("torn lock record")
	// errForeign: never a lock of ours.
	errForeign = errors.New("foreign content")
)

// encode writes a line per field, then the sum of the lines above.
func (r record) encode() []byte {
	b := make([]byte, 0, 512)
	b = append(b, magic...)
	line := func(key, val string) {
		b = append(append(append(append(b, '\n'), key...), ' '), val...)
	}
	line("host", r.Owner.Host)
	line("boot", r.Owner.Boot)
	line("pidns", r.Owner.PIDNS)
	line("pid", strconv.Itoa(r.Owner.PID))
	line("start", strconv.FormatUint(r.Owner.StartTicks, 10))
	line("nonce", r.Nonce)
	line("claim", r.Claim)
	line("lifetime", strconv.FormatInt(r.Lifetime.Milliseconds(), 10))
	line("since", strconv.FormatInt(r.Since.UnixMilli(), 10))
	line("note", cleanNote(r.Note))
	b = append(b, '\n')
	return fmt.Appendf(b, "crc %08x\n", crc32.ChecksumIEEE(b))
}

// cleanNote makes s one line of bounded length.
func cleanNote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	for len(s) > maxNote {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// decode reads a record. Anything that is not one is errTorn or errForeign.
func decode(data []byte) (record, error) {
	if len(data) > maxRecord {
		return record{}, errForeign
	}
	// A torn file is empty, or zeros, or begins as ours do.
	head := data[:min(len(data), len("qrunner-lock "))]
	if !strings.HasPrefix(magic, string(head)) && len(bytes.Trim(data, "\x00")) != 0 {
		return record{}, errForeign
	}
	i := bytes.LastIndex(data, []byte("\ncrc "))
	if i < 0 || !bytes.HasPrefix(data, []byte(magic+"\n")) {
		return record{}, errTorn
	}
	body, sum := data[:i+1], data[i+1:]
	if string(sum) != fmt.Sprintf("crc %08x\n", crc32.ChecksumIEEE(body)) {
		return record{}, errTorn
	}
	var r record
	for line := range strings.Lines(string(body[len(magic)+1:])) {
		key, val, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := r.set(key, val); err != nil {
			return record{}, errTorn
		}
	}
	if !isHex(r.Nonce, 32) || !hosts.ValidName(r.Owner.Host) || checkLifetime(r.Lifetime) != nil {
		return record{}, errTorn
	}
	return r, nil
}

// set takes over one field; a key that is not known is of a later version.
func (r *record) set(key, val string) (err error) {
	var ms int64
	switch key {
	case "host":
		r.Owner.Host = val
	case "boot":
		r.Owner.Boot = val
	case "pidns":
		r.Owner.PIDNS = val
	case "pid":
		r.Owner.PID, err = strconv.Atoi(val)
	case "start":
		r.Owner.StartTicks, err = strconv.ParseUint(val, 10, 64)
	case "nonce":
		r.Nonce = val
	case "claim":
		r.Claim = val
	case "lifetime":
		ms, err = strconv.ParseInt(val, 10, 64)
		if ms > maxLifetime.Milliseconds() {
			return errTorn
		}
		r.Lifetime = time.Duration(ms) * time.Millisecond
	case "since":
		ms, err = strconv.ParseInt(val, 10, 64)
		r.Since = time.UnixMilli(ms)
	case "note":
		r.Note = val
	}
	return err
}
