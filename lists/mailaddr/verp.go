package mailaddr

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// VERP is what the part behind the "+" of a bounces address says about the
// recipient whose copy came back. One of its two forms is set: Address (Mailman's
// form, "local=domain"), or the token form, which is short and plain ASCII: the
// member's number and a check sum of the address.
type VERP struct {
	// Address is the recipient; null in the token form.
	Address Address
	// Member is the number from the token; 0 when the recipient had none (an owner,
	// the addressee of a notice), who is then found by Names alone.
	Member uint64
	sum    string
}

// sumLen keeps tokens to 22 octets: 13 digits of a number, a dot, 40 bits of sum.
const sumLen = 8

// EncodeVERP makes the envelope sender for one recipient's copy from the list's
// bounces address. Mailman's form is taken where the local part stays within
// MaxLocal and no quoting or SMTPUTF8 is needed; the token form otherwise. A list
// whose name leaves room for neither gets bounces itself: no VERP. A null bounces
// address stays null. member is the recipient's number on the list, or 0.
func EncodeVERP(bounces, rcpt Address, member uint64) Address {
	if a, ok := ReadableVERP(bounces, rcpt); ok {
		return a
	}
	return TokenVERP(bounces, rcpt, member)
}

// ReadableVERP is EncodeVERP in Mailman's form, which is also Postfix's (XVERP=+=); false
// where that cannot be had.
func ReadableVERP(bounces, rcpt Address) (Address, bool) {
	if bounces.Null() || rcpt.Null() {
		return "", false
	}
	return extend(bounces, mailmanForm(rcpt))
}

// TokenVERP is EncodeVERP in the token form.
func TokenVERP(bounces, rcpt Address, member uint64) Address {
	if bounces.Null() || rcpt.Null() {
		return bounces
	}
	if a, ok := extend(bounces, token(rcpt, member)); ok {
		return a
	}
	return bounces
}

func extend(bounces Address, extra string) (Address, bool) {
	local := bounces.Local() + "+" + extra
	if extra == "" || len(local) > MaxLocal {
		return "", false
	}
	return Address(local + "@" + bounces.Domain()), true
}

func mailmanForm(a Address) string {
	local, domain := a.Local(), a.Domain()
	if !a.ASCII() || local[0] == '"' || domain[0] == '[' {
		return ""
	}
	return local + "=" + domain
}

func token(a Address, member uint64) string {
	return strconv.FormatUint(member, 36) + "." + checkSum(a)
}

func checkSum(a Address) string {
	h := sha256.Sum256([]byte(a.Key()))
	return strings.ToLower(base32.StdEncoding.EncodeToString(h[:5]))
}

// DecodeVERP reads what stood behind the first "+" of a bounces address, in any
// case: mail systems on the way may have changed it. It reports false for what
// EncodeVERP never writes.
func DecodeVERP(extra string) (VERP, bool) {
	if i := strings.LastIndexByte(extra, '='); i >= 0 {
		a, err := Parse(extra[:i] + "@" + extra[i+1:])
		return VERP{Address: a}, err == nil
	}
	number, sum, ok := strings.Cut(strings.ToLower(extra), ".")
	if !ok || len(sum) != sumLen || strings.Trim(sum, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		return VERP{}, false
	}
	id, err := strconv.ParseUint(number, 36, 64)
	return VERP{Member: id, sum: sum}, err == nil
}

// Names reports whether v is about a.
func (v VERP) Names(a Address) bool {
	if v.sum != "" {
		return v.sum == checkSum(a)
	}
	return !a.Null() && v.Address.Key() == a.Key()
}
