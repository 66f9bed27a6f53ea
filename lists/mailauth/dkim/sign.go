package dkim

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qrunner/lists/mailauth/canon"
	"qrunner/lists/message"
)

// Signer signs for a domain. Any goroutine may use it.
type Signer struct {
	Domain, Selector string
	Key              crypto.Signer
}

// Signed are the fields that a signature covers (RFC 6376 §5.4.1, RFC 8058 §4): what
// a reader sees, and what a list adds.
var Signed = []string{
	"From", "Sender", "Reply-To", "Subject", "Date", "Message-ID", "To", "Cc", "In-Reply-To", "References",
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding", "List-Id", "List-Help", "List-Owner", "List-Post",
	"List-Subscribe", "List-Unsubscribe", "List-Unsubscribe-Post", "List-Archive", "Archived-At", "Resent-From", "Resent-To",
}

// sealed are those of Signed that nobody may add a second of, or a first (§8.15).
var sealed = []string{
	"From", "Reply-To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// Names lists what to sign of a message: each field of Signed as often as it is
// there, the sealed ones once more.
func Names(m *message.Message) []string {
	count := map[string]int{}
	for _, f := range m.Fields() {
		count[strings.ToLower(f.Name)]++
	}
	var out []string
	for _, name := range Signed {
		n := count[strings.ToLower(name)]
		if slices.Contains(sealed, name) {
			n++
		}
		for range n {
			out = append(out, strings.ToLower(name))
		}
	}
	return out
}

// Sign makes the DKIM-Signature of a message whose body has that sum in the relaxed
// form. The sum is the caller's, because many copies have one body. The message must
// have its wire form: what is changed afterwards breaks the signature.
func (s Signer) Sign(m *message.Message, body canon.Sum, at time.Time) (message.Field, error) {
	alg, err := Algorithm(s.Key)
	if err != nil {
		return message.Field{}, err
	}
	names := Names(m)
	tags := canon.Tags{
		{Name: "v", Value: "1"}, {Name: "a", Value: alg}, {Name: "c", Value: "relaxed/relaxed"},
		{Name: "d", Value: s.Domain}, {Name: "s", Value: s.Selector},
		{Name: "t", Value: strconv.FormatInt(at.Unix(), 10)},
		{Name: "h", Value: strings.Join(names, ":")},
		{Name: "bh", Value: base64.StdEncoding.EncodeToString(body[:])},
		{Name: "b"},
	}
	raw := canon.Compose(field, tags)
	signature, err := SignSum(s.Key, canon.Digest(m.Fields(), names, -1, raw, canon.Relaxed))
	if err != nil {
		return message.Field{}, fmt.Errorf("sign for %s: %w", s.Domain, err)
	}
	tags[len(tags)-1].Value = base64.StdEncoding.EncodeToString(signature)
	return message.Field{Name: field, Raw: canon.Compose(field, tags)}, nil
}
