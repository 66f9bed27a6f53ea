package bounces

import (
	"strings"

	"qrunner/lists"
	"qrunner/lists/mailaddr"
	"qrunner/lists/message"
)

// maxNested is how deep Scan follows reports that are wrapped in other messages.
const maxNested = 2

// Scan says what a message to a bounces address is. It never fails and touches no
// state. Only the first mebibyte is looked at. Where the header shows a VERP address
// of EncodeVERP's, the recipient that it names takes the report's verdict; a message
// that looks like no failure stays none, whatever address it came to. Who holds the
// envelope uses ScanTo.
func Scan(raw []byte) Report {
	m := read(raw)
	v, _ := m.verp()
	return m.attribute(m.scan(0), v)
}

// ScanTo is Scan for a message that came to a list's bounces address with extra behind
// the "+" (lists.Target.Extra; "" if there was none). The header's own claims about the
// envelope do not count.
func ScanTo(raw []byte, extra string) Report {
	v, _ := mailaddr.DecodeVERP(extra)
	m := read(raw)
	return m.attribute(m.scan(0), v)
}

// verp finds a VERP address among those that the message went to.
func (m *mail) verp() (mailaddr.VERP, bool) {
	for _, a := range m.recipients() {
		if strings.IndexByte(a.Local(), '+') < 0 {
			continue
		}
		for _, t := range lists.Candidates(a) {
			if t.Sub != lists.SubBounces {
				continue
			}
			if v, ok := mailaddr.DecodeVERP(t.Extra); ok {
				return v, true
			}
		}
	}
	return mailaddr.VERP{}, false
}

// attribute gives the verdict to the recipient that the bounce address names: it was
// made for one copy, and the report may name addresses behind a forwarding only.
func (m *mail) attribute(r Report, v mailaddr.VERP) Report {
	r.VERP, r.List = v, m.listID()
	if v == (mailaddr.VERP{}) || len(r.Recipients) == 0 {
		if v.Address.Null() || r.Kind != Complaint {
			return r
		}
		r.Recipients = []Result{{Address: v.Address, Class: Complained, Reason: Feedback, Detector: "verp"}}
		return r
	}
	pick := r.Recipients[0]
	for _, x := range r.Recipients {
		if v.Names(x.Address) {
			pick = x
			break
		}
		if worse(x, pick) {
			pick = x
		}
	}
	if !v.Names(pick.Address) {
		if !v.Address.Null() {
			pick.Address, pick.Alias = v.Address, pick.Address
		}
		pick.Detector = "verp+" + pick.Detector
	}
	r.Recipients = []Result{pick}
	return r
}

// listID is the list-id of the returned copy.
func (m *mail) listID() string {
	if m.original == nil {
		return ""
	}
	id := m.original.Get("List-Id")
	if i := strings.LastIndexByte(id, '<'); i >= 0 {
		id = id[i+1:]
	}
	id, _, _ = strings.Cut(id, ">")
	return strings.ToLower(strings.TrimSpace(id))
}

// worse orders results of one copy: a permanent failure before a warning before none.
func worse(a, b Result) bool {
	rank := func(x Result) int {
		switch {
		case x.Class == Hard:
			return 3
		case x.Class != None && x.Permanent:
			return 2
		case x.Class != None:
			return 1
		}
		return 0
	}
	return rank(a) > rank(b)
}

// scan asks the detectors in the order of the policy.
func (m *mail) scan(depth int) Report {
	if depth == 0 && len(m.head.Fields()) == 0 {
		return Report{Kind: NotABounce} // no mail at all
	}
	if r := m.complaint(); r != nil {
		return Report{Kind: Complaint, Recipients: r}
	}
	if r := m.challenge(); r != nil {
		return Report{Kind: Challenge, Recipients: r}
	}
	daemon := m.daemon()
	if len(m.status) == 0 && !daemon {
		if r := m.autoReply(); r != nil {
			return Report{Kind: AutoReply, Recipients: r}
		}
	}
	for _, d := range detectors {
		if d.daemon && !daemon {
			continue
		}
		if r := d.find(m); len(r) > 0 {
			kind := Bounce
			if r[0].Class == Complained {
				kind = Complaint
			}
			return Report{Kind: kind, Recipients: m.finish(r, d.name)}
		}
	}
	if depth < maxNested && len(m.attached) > 0 && wrapped(m.original) {
		if r := read(m.attached).scan(depth + 1); r.Kind == Bounce || r.Kind == Complaint {
			return r
		}
	}
	r := m.autoReply()
	switch {
	case r != nil && (!daemon || m.replySubject()):
		return Report{Kind: AutoReply, Recipients: r}
	case daemon || len(m.status) > 0:
		return Report{Kind: Bounce}
	}
	return Report{Kind: NotABounce}
}

// wrapped reports whether an attached message is a report itself.
func wrapped(h *message.Message) bool {
	t := h.ContentType()
	return t.Media == "multipart/report" || read(h.Bytes()).daemon()
}

// finish fills in what detectors leave open and joins results for one address.
func (m *mail) finish(in []Result, name string) []Result {
	var out []Result
	at := map[string]int{}
	for _, r := range in {
		if r.Detector == "" {
			r.Detector = name
		}
		r.Policy = r.Reason.Policy()
		r.Diagnostic = clipText(oneLine(r.Diagnostic), MaxDiagnostic)
		if i, ok := at[r.Address.Key()]; ok {
			if worse(r, out[i]) {
				out[i] = r
			}
			continue
		}
		if len(out) == maxBlocks {
			break
		}
		at[r.Address.Key()] = len(out)
		out = append(out, r)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
