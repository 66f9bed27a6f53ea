package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// baseURL accepts what RFC 8058 §3.1 allows in List-Unsubscribe.
func baseURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return err
	}
	odd := strings.ContainsAny(s, "<>, \"") || u.RawQuery != "" || u.Fragment != "" || u.User != nil
	return need(u.Scheme == "https" && u.Host != "" && !odd, fmt.Sprintf("%q is no https URL without query", s))
}

func listenWeb(w Web) error {
	if w.Listen == "" {
		return nil
	}
	if w.BaseURL == "" {
		return errors.New("needs web.base_url: the pages are reached at nothing else")
	}
	return listenTCP([]string{w.Listen})
}

func proxies(s string) error {
	_, err := ParseProxies(s)
	return err
}

// ParseProxies reads web.proxies.
func ParseProxies(s string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for word := range strings.FieldsSeq(s) {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, aerr := netip.ParseAddr(word)
			if aerr != nil {
				return nil, fmt.Errorf("%q is neither an address nor a network", word)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}
