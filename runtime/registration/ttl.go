package registration

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A TTL is the lifetime of an entry: a duration, or never to expire. The zero TTL is unset.
type TTL struct {
	duration time.Duration
	never    bool
}

// never is the text of an entry that does not expire.
const never = "never"

// NewTTL returns a TTL of a duration; 0 is unset.
func NewTTL(d time.Duration) TTL { return TTL{duration: d} }

// UnmarshalText parses a duration such as 10m or 1d, or never.
func (t *TTL) UnmarshalText(text []byte) error {
	s := string(text)
	if s == never {
		*t = TTL{never: true}
		return nil
	}
	d, err := time.ParseDuration(s)
	for unit, hours := range map[string]time.Duration{"d": 24, "w": 24 * 7} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			d, err = time.ParseDuration(number + "h")
			d *= hours
		}
	}
	if err != nil {
		return diag.Expected(`a time such as "10m" or "1d", or "never"`).Got("%q", s)
	}
	if d < time.Second {
		return diag.MustBe("at least 1s").Got("%s", s)
	}
	*t = TTL{duration: d}
	return nil
}

// check returns an error for less than a second, which a server would refuse (ADR-43 of NATS).
func (t *TTL) check() error {
	if t != nil && !t.never && *t != (TTL{}) && t.duration < time.Second {
		return diag.MustBe("at least 1s").Got("%s", t.duration)
	}
	return nil
}

// String returns the text for the header Nats-TTL and for JSON, "" if it is unset.
func (t TTL) String() string {
	switch {
	case t.never:
		return never
	case t.duration > 0:
		return t.duration.String()
	}
	return ""
}

// Duration returns the duration. It reports false for a TTL that is unset or never expires.
func (t *TTL) Duration() (time.Duration, bool) {
	if t == nil || t.never || t.duration <= 0 {
		return 0, false
	}
	return t.duration, true
}

// JSONSchema implements schema.JSONSchemer.
func (TTL) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$|^[0-9]+(\.[0-9]+)?[dw]$|^never$`, "examples": []any{"10m", "1d", never}}
}

// PropertyKind implements schema.KindReporter.
func (TTL) PropertyKind() string { return "duration" }

// NumberHint returns the advice for a number without a unit.
func (TTL) NumberHint(num string) string { return fmt.Sprintf(`write the unit: "%ss"`, num) }

// MarshalJSON writes the text, or null if it is unset.
func (t TTL) MarshalJSON() ([]byte, error) {
	if s := t.String(); s != "" {
		return json.Marshal(s)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a text, null, or a number of nanoseconds, the form of time.Duration.
func (t *TTL) UnmarshalJSON(text []byte) error {
	var val any
	if err := json.Unmarshal(text, &val); err != nil {
		return err
	}
	switch x := val.(type) {
	case nil:
		*t = TTL{}
		return nil
	case float64:
		if x < 0 || x > float64(1<<62) {
			return diag.Expected("a time").Got("%v", x)
		}
		*t = TTL{duration: time.Duration(x)}
		return nil
	case string:
		return t.UnmarshalText([]byte(x))
	}
	return diag.Expected("a time").Got("%s", text)
}
