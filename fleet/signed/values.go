package signed

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Duration is a non-negative duration in the format of time.ParseDuration.
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the text without units that are 0.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = text[:len(text)-2]
	}
	if strings.HasSuffix(text, "h0m") {
		text = text[:len(text)-2]
	}
	return text
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 || v > 90*24*time.Hour {
		return diag.Expected("a duration such as 10m").Got("%q", text)
	}
	*d = Duration(v)
	return nil
}

// A Share is a number of machines, or a percentage of some.
type Share struct {
	Number  int
	Percent float64
	percent bool
}

// ParseShare reads a number or a percentage.
func ParseShare(text string) (s Share, err error) {
	return s, s.UnmarshalText([]byte(text))
}

// MarshalText implements encoding.TextMarshaler.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns the text.
func (s Share) String() string {
	if s.percent {
		return strconv.FormatFloat(s.Percent, 'g', -1, 64) + "%"
	}
	return strconv.Itoa(s.Number)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Share) UnmarshalText(text []byte) error {
	word := string(text)
	if digits, ok := strings.CutSuffix(word, "%"); ok {
		p, err := strconv.ParseFloat(digits, 64)
		if err == nil && p >= 0 && p <= 100 && strings.Trim(digits, "0123456789.") == "" {
			*s = Share{Percent: p, percent: true}
			return nil
		}
	} else if n, err := strconv.Atoi(word); err == nil && n >= 0 {
		*s = Share{Number: n}
		return nil
	}
	return diag.Expected("a number, or a percentage such as 2%%").Got("%q", word)
}

// Of returns the number of machines that a share allows, rounded down.
func (s Share) Of(machines int) int {
	if s.percent {
		return int(math.Floor(float64(machines)*s.Percent/100 + 1e-9))
	}
	return s.Number
}
