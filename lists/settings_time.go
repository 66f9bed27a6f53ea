package lists

import (
	"fmt"
	"time"
)

// period checks a span of time that is not nothing.
func period(v string) error {
	d, err := ParseDuration(v)
	if err == nil && d < time.Minute {
		return fmt.Errorf("%q is less than a minute", v)
	}
	return err
}

// timeOfDay checks a time such as 12:00.
func timeOfDay(v string) error {
	_, err := ParseTimeOfDay(v)
	return err
}

// ParseTimeOfDay reads a time such as 07:30: how long after midnight it is.
func ParseTimeOfDay(v string) (time.Duration, error) {
	t, err := time.Parse("15:04", v)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of the day such as 07:30", v)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// languageCode checks the code of a language, such as de or zh_CN.
func languageCode(v string) error {
	if len(v) < 2 || len(v) > 10 {
		return fmt.Errorf("%q is no language such as en, de or zh_CN", v)
	}
	for _, r := range v {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return fmt.Errorf("%q is no language such as en, de or zh_CN", v)
		}
	}
	return nil
}
