package lists

import "testing"

func TestMigrate(t *testing.T) {
	for _, c := range [][4]string{
		{"verp", "never", "verp_delivery_interval", "0"}, {"verp", "always", "verp_delivery_interval", "1"},
		{"description", "verp", "description", "verp"}, {"nonsense", "x", "nonsense", "x"},
	} {
		if name, value := Migrate(c[0], c[1]); name != c[2] || value != c[3] {
			t.Errorf("Migrate(%q, %q) = %q, %q", c[0], c[1], name, value)
		}
	}
	for old, now := range formerly {
		if _, known := LookupSetting(old); known {
			t.Errorf("%s is a setting again", old)
		}
		if name, value := now("x"); CheckSetting(name, value) != nil {
			t.Errorf("%s becomes %s=%s, which is none: %v", old, name, value, CheckSetting(name, value))
		}
	}
}
