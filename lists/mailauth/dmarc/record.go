// Package dmarc finds the policy that a mail domain publishes for mail that fails
// DMARC (RFC 9989, which obsoletes RFC 7489).
package dmarc

import (
	"strings"

	"qrunner/lists"
)

// record is a policy record (RFC 9989 §4.7).
type record struct {
	// p is for the domain itself, sp for what is below it, np for names below it
	// that do not exist. The defaults are resolved.
	p, sp, np lists.DMARCPolicy
	// psd is "y" for a public suffix, "n" for the top of an organisation, else "u".
	psd string
}

// pick takes the record out of the TXT records of a name: none if there are several.
func pick(records []string) (record, bool) {
	var found record
	n := 0
	for _, text := range records {
		if r, ok := parse(text); ok {
			found = r
			n++
		}
	}
	return found, n == 1
}

// parse reads a record; false if it is none of DMARC. Unknown tags are ignored, the
// first of several with one name counts. A policy that is no policy spoils them all:
// the domain then publishes "none" (§4.10.1).
func parse(text string) (record, bool) {
	tags := map[string]string{}
	for i, spec := range strings.Split(text, ";") {
		name, value, _ := strings.Cut(spec, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if i == 0 && (name != "v" || value != "DMARC1") {
			return record{}, false
		}
		name = strings.ToLower(name)
		if _, twice := tags[name]; !twice {
			tags[name] = strings.ToLower(value)
		}
	}
	r := record{p: lists.DMARCNone, psd: "u"}
	if psd := tags["psd"]; psd == "y" || psd == "n" {
		r.psd = psd
	}
	good := true
	read := func(tag string, absent lists.DMARCPolicy) lists.DMARCPolicy {
		v, ok := tags[tag]
		switch p := lists.DMARCPolicy(v); {
		case !ok:
			return absent
		case p == lists.DMARCNone, p == lists.DMARCQuarantine, p == lists.DMARCReject:
			return p
		}
		good = false
		return absent
	}
	r.p = read("p", lists.DMARCNone)
	r.sp = read("sp", r.p)
	r.np = read("np", r.sp)
	if !good {
		r.p, r.sp, r.np = lists.DMARCNone, lists.DMARCNone, lists.DMARCNone
	}
	return r, true
}
