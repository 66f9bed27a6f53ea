package score

import (
	"time"

	"qrunner/lists"
)

// Config is a list's settings about bounces. Each field is the setting in its comment.
type Config struct {
	Threshold     Points        // bounce_score_threshold
	Stale         time.Duration // bounce_info_stale_after
	Soft, Expired Points        // bounce_soft_points, bounce_expired_points
	Warnings      int           // bounce_you_are_disabled_warnings
	Interval      time.Duration // bounce_you_are_disabled_warnings_interval
	Storm         int64         // bounce_storm_percent
	Probes        bool          // verp_probes
	Complaint     string        // bounce_complaint_action: one of the Complaint... below
}

// What a complaint leads to. Disable: the member is told, and gets mail again by
// answering; nothing more follows. Unsubscribe: removed after StormWindow.
const (
	ComplaintNone        = "none"
	ComplaintDisable     = "disable"
	ComplaintUnsubscribe = "unsubscribe"
)

// FromSettings reads a list's settings. Settings were checked when they were set; one
// that cannot be read all the same counts as zero, and a threshold of zero as never.
func FromSettings(s *lists.Settings) Config {
	points := func(name string) Points {
		p, _ := ParsePoints(s.Text(name))
		return p
	}
	span := func(name string) time.Duration {
		d, _ := lists.ParseDuration(s.Text(name))
		return d
	}
	return Config{
		Threshold: points("bounce_score_threshold"), Stale: span("bounce_info_stale_after"),
		Soft: points("bounce_soft_points"), Expired: points("bounce_expired_points"),
		Warnings: int(s.Int("bounce_you_are_disabled_warnings")), Interval: span("bounce_you_are_disabled_warnings_interval"),
		Storm: s.Int("bounce_storm_percent"), Probes: s.Bool("verp_probes"),
		Complaint: s.Text("bounce_complaint_action"),
	}
}

// points is what a bounce of a kind weighs.
func (c Config) points(k Kind) Points {
	switch k {
	case Hard:
		return Point
	case Soft:
		return c.Soft
	case Expired:
		return c.Expired
	}
	return 0
}
