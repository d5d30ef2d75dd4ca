package host

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Clock returns the time.
type Clock interface{ Now() time.Time }

// RealClock is the time of day.
type RealClock struct{}

// Now implements Clock.
func (RealClock) Now() time.Time { return time.Now() }

// Now returns the time.
func (m *machine) Now() time.Time { return m.clock.Now() }

// A Duration is a length of time: 30s, 5m, 1h30m, 1d, 1w. See [ParseDuration].
type Duration time.Duration

// ParseDuration reads a duration as [time.ParseDuration] does, with weeks of seven days and days of 24 hours before
// the rest: 1w2d12h. A negative one is an error.
func ParseDuration(text string) (time.Duration, error) {
	wrong := diag.Expected(`a duration such as "30s" or "5m"`).Got("%q", text)
	rest, sum := text, time.Duration(0)
	for _, unit := range []struct {
		name string
		span time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		count, err := strconv.ParseFloat(number, 64)
		if err != nil || strings.Trim(number, "0123456789.") != "" || count > float64(math.MaxInt64/4/unit.span) {
			return 0, wrong
		}
		sum += time.Duration(count * float64(unit.span))
		if rest = after; rest == "" {
			return sum, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || sum+d < sum {
		return 0, wrong
	}
	return sum + d, nil
}

// UnmarshalText reads a duration, which may not be negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// NumberHint is the advice for a bare number.
func (Duration) NumberHint(num string) string { return fmt.Sprintf(`add the unit: "%ss"`, num) }

// String formats d so that UnmarshalText reads it.
func (d Duration) String() string { return time.Duration(d).String() }

// PropertyKind implements schema.KindReporter.
func (Duration) PropertyKind() string { return "duration" }

// JSONSchema implements schema.JSONSchemer.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{
		"type": "string", "minLength": 1, "examples": []any{"30s", "5m"},
		"pattern": `^([0-9]+(\.[0-9]+)?w)?([0-9]+(\.[0-9]+)?d)?([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))*$|^0$`,
	}
}
