package std

import (
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

func timeLibrary() *Library {
	return &Library{
		Name: "time",
		Doc:  "Times are numbers: seconds since 1970 in UTC, as in os.time, with a fraction. Durations are numbers of seconds.",
		Funcs: []Func{{
			Signature: `now(): number`,
			Doc:       "Returns the current time. A script that uses it describes a different state in every run.",
			Example:   `time.format(time.now())`, Result: `"2026-01-02T03:04:05Z"`,
			Fn: func(c *call) int { return c.give(seconds(c.View.Now())) },
		}, {
			Signature: `format(time: number, format?: string): string`,
			Doc: "Formats a time in UTC: as in RFC 3339, or by a format of %Y %m %d %H %M %S %y %j %a %A %b %B %p %I %F %T %s and %%. " +
				"Any other letter after % is an error.",
			Example: `time.format(0, "%d.%m.%Y")`, Result: `"01.01.1970"`,
			Fn: timeFormat,
		}, {
			Signature: `parse(text: string): number`,
			Doc:       "Parses a date, 2026-01-02, or a date and a time, 2026-01-02T15:04:05Z. Without a zone the time is UTC; a space may replace the T and the seconds are optional. Anything else is an error.",
			Example:   `time.parse("2026-01-02 03:04")`, Result: `1767323040`,
			Fn: timeParse,
		}, {
			Signature: `duration(text: string): number`,
			Doc:       "Parses a duration such as 90s, 1h30m, 250ms, 2d or 1w and returns its seconds. Anything else is an error.",
			Example:   `time.duration("1h30m")`, Result: `5400`,
			Fn: func(c *call) int {
				d, err := host.ParseDuration(c.str(1))
				if err != nil {
					c.fail("%w", err)
				}
				return c.give(lua.LNumber(d.Seconds()))
			},
		}},
	}
}

// seconds returns a time in the form that scripts get.
func seconds(t time.Time) lua.LNumber {
	return lua.LNumber(float64(t.Unix()) + float64(t.Nanosecond())/1e9)
}

// maxSeconds bounds times: the end of the year 9999.
const maxSeconds = 253402300799

// timeArg returns the time that argument n is.
func timeArg(c *call, n int) time.Time {
	s := c.number(n)
	if !(s >= -62135596800 && s <= maxSeconds) { // refuses values that are no number, too
		c.fail("%w", diag.Expected("a time between the years 1 and 9999 as argument %d", n).Got("%s", c.describe(c.L.Get(n))))
	}
	whole := int64(s)
	return time.Unix(whole, int64((s-float64(whole))*1e9)).UTC()
}

func timeFormat(c *call) int {
	t := timeArg(c, 1)
	if !c.given(2) {
		return c.giveStr(t.Format(time.RFC3339))
	}
	var out strings.Builder
	format := c.str(2)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			c.fail("%w", diag.Expected("a letter after the %% at the end of %q", format))
		}
		layout := layoutOf(format[i])
		switch {
		case format[i] == 's':
			fmt.Fprint(&out, t.Unix())
		case layout == "":
			c.fail("%w", diag.Expected("one of Y m d H M S y j a A b B p I F T s %% after %%").Got("%q", format[i:i+1]))
		default:
			out.WriteString(t.Format(layout))
		}
	}
	return c.giveStr(out.String())
}

// layoutOf returns Go's layout for the letter behind a %, or "".
func layoutOf(letter byte) string {
	switch letter {
	case 'Y':
		return "2006"
	case 'm':
		return "01"
	case 'd':
		return "02"
	case 'H':
		return "15"
	case 'M':
		return "04"
	case 'S':
		return "05"
	case 'y':
		return "06"
	case 'j':
		return "002"
	case 'a':
		return "Mon"
	case 'A':
		return "Monday"
	case 'b':
		return "Jan"
	case 'B':
		return "January"
	case 'p':
		return "PM"
	case 'I':
		return "03"
	case 'F':
		return time.DateOnly
	case 'T':
		return time.TimeOnly
	case '%':
		return "%"
	}
	return ""
}

func timeParse(c *call) int {
	text := strings.TrimSpace(c.str(1))
	if len(text) > len(time.DateOnly) && (text[len(time.DateOnly)] == ' ' || text[len(time.DateOnly)] == 't') {
		text = text[:len(time.DateOnly)] + "T" + text[len(time.DateOnly)+1:]
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return c.give(seconds(t))
		}
	}
	c.fail("%w", diag.Expected("a date such as 2026-01-02 or a time such as 2026-01-02T15:04:05Z").Got("%q", c.str(1)))
	return 0
}
