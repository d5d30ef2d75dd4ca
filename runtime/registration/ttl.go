package registration

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A TTL is how long an entry holds: a time, or for ever. The zero value says nothing.
type TTL struct {
	duration time.Duration
	never    bool
}

// never is the text for an entry that does not expire.
const never = "never"

// NewTTL returns the TTL of a time. It is 0 for none.
func NewTTL(d time.Duration) TTL { return TTL{duration: d} }

// UnmarshalText reads a time such as 10m or 1d, or never.
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
		return fmt.Errorf(`want a time such as "10m" or "1d", or "never", got %q`, s)
	}
	if d < time.Second {
		return fmt.Errorf("want at least 1s, got %s", s)
	}
	*t = TTL{duration: d}
	return nil
}

// check refuses what a server would refuse: less than a second (ADR-43 of NATS).
func (t *TTL) check() error {
	if t != nil && !t.never && *t != (TTL{}) && t.duration < time.Second {
		return fmt.Errorf("want at least 1s, got %s", t.duration)
	}
	return nil
}

// String returns the text of the header Nats-TTL and of JSON, "" for none.
func (t TTL) String() string {
	switch {
	case t.never:
		return never
	case t.duration > 0:
		return t.duration.String()
	}
	return ""
}

// Duration returns the time. It is false for one that never ends, and for none.
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

// NumberHint is the advice for a bare number.
func (TTL) NumberHint(num string) string { return fmt.Sprintf(`write the unit: "%ss"`, num) }

// MarshalJSON writes the text, null for none.
func (t TTL) MarshalJSON() ([]byte, error) {
	if s := t.String(); s != "" {
		return json.Marshal(s)
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads a text, null, or a number of nanoseconds, as time.Duration is written.
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
			return fmt.Errorf("want a time, got %v", x)
		}
		*t = TTL{duration: time.Duration(x)}
		return nil
	case string:
		return t.UnmarshalText([]byte(x))
	}
	return fmt.Errorf("want a time, got %s", text)
}
