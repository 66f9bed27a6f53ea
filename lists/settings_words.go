package lists

import (
	"fmt"
	"net/url"
	"strings"

	"qrunner/lists/mailaddr"
)

// each checks every word of a value.
func each(check func(string) error) func(string) error {
	return func(v string) error {
		for _, w := range strings.Fields(v) {
			if err := check(w); err != nil {
				return err
			}
		}
		return nil
	}
}

func mediaTypes(v string) error {
	return each(func(w string) error {
		main, sub, slash := strings.Cut(w, "/")
		if main == "" || slash && sub == "" || strings.ContainsAny(w, ";,*\"") || strings.Contains(sub, "/") {
			return fmt.Errorf("%q is no media type such as image or image/gif", w)
		}
		return nil
	})(v)
}

func extensions(v string) error {
	return each(func(w string) error {
		if strings.ContainsAny(w, "./\\,*") {
			return fmt.Errorf("%q is no file name extension such as exe", w)
		}
		return nil
	})(v)
}

func addresses(v string) error {
	return each(func(w string) error {
		_, err := mailaddr.Parse(w)
		return err
	})(v)
}

// maybeAddress checks one address or none.
func maybeAddress(v string) error {
	if v == "" {
		return nil
	}
	_, err := mailaddr.Parse(v)
	return err
}

// webURL checks an http or https URL that a header can carry (RFC 2369 §2), or none.
func webURL(v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' }) {
		return fmt.Errorf("%q is no URL that starts with https:// or http://", v)
	}
	return nil
}
