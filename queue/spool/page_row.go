package spool

import (
	"strconv"
	"time"

	"qrunner/queue"
)

// The small change of the table of rows.

// into sets *dst to what parse makes of v.
func into[T any](dst *T, v string, parse func(string) (T, error)) error {
	x, err := parse(v)
	if err == nil {
		*dst = x
	}
	return err
}

// addTo appends what parse makes of v.
func addTo[T any](list func(p *page) *[]T, parse func(string) (T, error)) func(p *page, v string) error {
	return func(p *page, v string) error {
		x, err := parse(v)
		*list(p) = append(*list(p), x)
		return err
	}
}

func as[T ~string](v string) (T, error) { return T(v), nil }

func parseUint(v string) (uint64, error) { return strconv.ParseUint(v, 10, 64) }

func word[T ~string](v T) []string {
	if v == "" {
		return nil
	}
	return []string{string(v)}
}

func yes(b bool) []string {
	if !b {
		return nil
	}
	return []string{"yes"}
}

func number(n uint64) []string {
	if n == 0 {
		return nil
	}
	return []string{strconv.FormatUint(n, 10)}
}

func when(t time.Time) []string {
	if t.IsZero() {
		return nil
	}
	return []string{formatTime(t)}
}

func getRecipients(p *page) []string {
	out := make([]string, len(p.Meta.Recipients))
	for i := range p.Meta.Recipients {
		out[i] = formatRecipient(&p.Meta.Recipients[i])
	}
	return out
}

func setRecipient(p *page, v string) error {
	r, err := parseRecipient(v)
	p.Meta.Recipients = append(p.Meta.Recipients, r)
	return err
}

func (p *page) bounce() *queue.Bounce {
	if p.Meta.Bounce == nil {
		p.Meta.Bounce = &queue.Bounce{}
	}
	return p.Meta.Bounce
}

func getBounce(get func(b *queue.Bounce) []string) func(*page) []string {
	return func(p *page) []string {
		if p.Meta.Bounce == nil {
			return nil
		}
		return get(p.Meta.Bounce)
	}
}

func getFanout(get func(p *page) string) func(*page) []string {
	return func(p *page) []string {
		if !p.fanout {
			return nil
		}
		return []string{get(p)}
	}
}
