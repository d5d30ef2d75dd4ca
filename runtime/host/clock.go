package host

import (
	"fmt"
	"strings"
	"time"
)

// A Clock tells the time.
type Clock interface{ Now() time.Time }

// RealClock is the time of day.
type RealClock struct{}

// Now implements Clock.
func (RealClock) Now() time.Time { return time.Now() }

// Now returns the time.
func (m *machine) Now() time.Time { return m.clock.Now() }

// A Duration is a length of time, written as Go does, or in days: 30s, 5m, 1h30m, 1d.
type Duration time.Duration

// UnmarshalText reads a duration, which may not be negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if days, ok := strings.CutSuffix(string(text), "d"); ok && strings.Trim(days, "0123456789.") == "" {
		v, err = time.ParseDuration(days + "h")
		v *= 24
	}
	if err != nil || v < 0 {
		return fmt.Errorf(`want a duration such as "30s" or "5m", got %q`, text)
	}
	*d = Duration(v)
	return nil
}

// NumberHint is the advice for a bare number.
func (Duration) NumberHint(num string) string { return fmt.Sprintf(`write the unit: "%ss"`, num) }

// String formats d so that UnmarshalText reads it.
func (d Duration) String() string { return time.Duration(d).String() }

// PropertyKind implements schema.KindReporter.
func (Duration) PropertyKind() string { return "duration" }

// JSONSchema implements schema.JSONSchemer.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$|^[0-9]+(\.[0-9]+)?d$|^0$`, "examples": []any{"30s", "5m"}}
}
