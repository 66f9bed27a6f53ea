package bounces

import "strings"

// exchange reads Exchange (5.5 to 2019) and Office 365 without report part, in several
// languages: the recipients below an introduction, the servers' words in a section for
// administrators.
func exchange(m *mail) []Result {
	i := m.after("did not reach the following recipient", "following recipient(s) could not be reached", "could not be reached:",
		"failed to these recipients", "to the following email addresses", "échec de la remise", "ces destinataires", "il recapito non è riuscito",
		"fehler bei der nachrichtenzustellung", "an folgende empfänger", "error de entrega", "no se pudo entregar", "falha na entrega",
		"bezorging is mislukt", "не удалось доставить", "dostarczanie do następujących", "leverans till följande", "levering til følgende",
		"以下の受信者", "配信できませんでした", "传递到以下", "传递失败")
	if i < 0 {
		return m.generated()
	}
	// The introduction itself may end in the address.
	if a, ok := m.addressIn(afterColon(m.notice[i-1])); ok {
		return m.results([]block{{addr: a, text: m.textFrom(i)}}, "")
	}
	bs := m.blocks(i, 3)
	if len(bs) == 0 {
		bs = m.x400(i)
	}
	if len(bs) == 0 {
		bs = m.mailto(i)
	}
	common := ""
	if len(bs) == 1 { // all that is said is about it
		common = m.textFrom(i)
	}
	admin := m.administrators()
	for k := range bs {
		if t := admin[bs[k].addr.Key()]; t != "" {
			bs[k].text = t
		}
	}
	return m.results(bs, common)
}

// generated reads the section for administrators alone, whatever the language of the rest:
// an address on a line of its own, and below it "#550 5.1.1 RESOLVER... ##", with the
// refusing host before it or "<host #5.1.1 smtp;550 ...> #SMTP#" around it.
func (m *mail) generated() []Result {
	var bs []block
	for i, l := range m.notice {
		a, rest, ok := leadAddress(l)
		if !ok || strings.TrimSpace(rest) != "" || m.addressed(a) || i+1 >= len(m.notice) {
			continue
		}
		said := strings.TrimSpace(m.notice[i+1])
		if k := strings.IndexByte(said, '#'); k >= 0 && (strings.HasSuffix(said, "##") || strings.HasSuffix(said, "#SMTP#")) {
			bs = append(bs, block{addr: a, text: strings.Trim(said[k:], "# ")})
		}
	}
	return m.results(bs, "")
}

func afterColon(s string) string {
	_, rest, _ := strings.Cut(s, ":")
	return rest
}

// x400 reads "c=US;a= ;p=X;o=Y;dda:SMTP=user@example.com; on Fri, 4 Oct".
func (m *mail) x400(i int) []block {
	var out []block
	for k := i; k < len(m.notice); k++ {
		_, addr, ok := strings.Cut(m.notice[k], "SMTP=")
		if !ok {
			continue
		}
		if a, _, ok := bareAddress(addr); ok && !m.addressed(a) {
			out = append(out, block{addr: a, text: m.textFrom(k + 1)})
		}
	}
	return out
}

// mailto reads "Display Name<mailto:user@example.com>".
func (m *mail) mailto(i int) []block {
	var out []block
	for k := i; k < len(m.notice) && !closes(m.low[k]); k++ {
		_, addr, ok := strings.Cut(m.notice[k], "<mailto:")
		if !ok {
			continue
		}
		if a, _, ok := bareAddress(addr); ok && !m.addressed(a) {
			out = append(out, block{addr: a, text: m.textFrom(k + 1)})
		}
	}
	return out
}

// administrators maps recipients to what the section for administrators says of them:
// lines "#550 5.1.1 ... ##" or "Remote Server returned '550 ...'" below the address.
func (m *mail) administrators() map[string]string {
	out := map[string]string{}
	key := ""
	for i, l := range m.notice {
		if a, rest, ok := leadAddress(l); ok && strings.TrimSpace(rest) == "" {
			key = a.Key()
			continue
		}
		t := strings.TrimSpace(l)
		if key != "" && (strings.HasPrefix(t, "#") || strings.Contains(m.low[i], "returned '") || strings.Contains(m.low[i], "returned an error") ||
			replyAt(t) && len(t) > 3) {
			out[key] = strings.Trim(t, "# ")
		}
	}
	return out
}
