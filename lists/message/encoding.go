package message

import (
	"bytes"
	"encoding/base64"
	"mime/quotedprintable"
)

// QuotedPrintable encodes text (RFC 2045 §6.7).
func QuotedPrintable(text []byte) []byte {
	var out bytes.Buffer
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write(text) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// Base64 encodes octets in lines of 76 (RFC 2045 §6.8).
func Base64(b []byte) []byte {
	code := base64.StdEncoding.EncodeToString(b)
	out := make([]byte, 0, len(code)+len(code)/38+2)
	for len(code) > 0 {
		n := min(len(code), 76)
		out = append(append(out, code[:n]...), "\r\n"...)
		code = code[n:]
	}
	return out
}

// Encode puts octets into the part's transfer encoding: what Decode takes off.
func (p *Part) Encode(content []byte) []byte {
	switch p.Encoding() {
	case "base64":
		return Base64(content)
	case "quoted-printable":
		return QuotedPrintable(content)
	}
	return content
}
