package luaapi

import (
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// date is os.date: it writes a time with the directives of strftime in C, or returns its parts as a table. Months and
// days have their English names. The functions of gopher-lua know only some directives.
func date(L *lua.LState) int {
	format := L.OptString(1, "%c")
	t := time.Now()
	if seconds := L.Get(2); seconds != lua.LNil {
		t = time.Unix(int64(checkNumber(L, 2)), 0)
	}
	if rest, ok := strings.CutPrefix(format, "!"); ok {
		format, t = rest, t.UTC()
	}
	if strings.HasPrefix(format, "*t") {
		L.Push(dateTable(L, t))
		return 1
	}
	L.Push(lua.LString(strftime(format, t)))
	return 1
}

// dateTable returns the parts of a time as os.date "*t" has them.
func dateTable(L *lua.LState, t time.Time) *lua.LTable {
	table := L.CreateTable(0, 9)
	for _, part := range []struct {
		name  string
		value int
	}{
		{"year", t.Year()}, {"month", int(t.Month())}, {"day", t.Day()}, {"hour", t.Hour()}, {"min", t.Minute()},
		{"sec", t.Second()}, {"wday", int(t.Weekday()) + 1}, {"yday", t.YearDay()},
	} {
		table.RawSetString(part.name, lua.LNumber(part.value))
	}
	table.RawSetString("isdst", lua.LBool(t.IsDST()))
	return table
}

// strftime writes a time as that function of C does with English names. A directive that C99 does not have stays.
func strftime(format string, t time.Time) string {
	var out strings.Builder
	for {
		text, rest, found := strings.Cut(format, "%")
		out.WriteString(text)
		if !found {
			return out.String()
		}
		if rest == "" {
			out.WriteByte('%')
			return out.String()
		}
		out.WriteString(dateDirective(rest[0], t))
		format = rest[1:]
	}
}

// layouts are the directives of strftime that package time has too.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02", 'D': "01/02/06",
	'e': "_2", 'F': "2006-01-02", 'h': "Jan", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM", 'r': "03:04:05 PM",
	'R': "15:04", 'S': "05", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

func dateDirective(directive byte, t time.Time) string {
	if layout, ok := layouts[directive]; ok {
		return t.Format(layout)
	}
	weekday := int(t.Weekday())
	weekYear, week := t.ISOWeek()
	switch directive {
	case '%':
		return "%"
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'g':
		return fmt.Sprintf("%02d", weekYear%100)
	case 'G':
		return fmt.Sprint(weekYear)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'n':
		return "\n"
	case 's': // of the C libraries
		return fmt.Sprint(t.Unix())
	case 't':
		return "\t"
	case 'u':
		return fmt.Sprint((weekday+6)%7 + 1)
	case 'U': // weeks begin on Sunday
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7)
	case 'V':
		return fmt.Sprintf("%02d", week)
	case 'w':
		return fmt.Sprint(weekday)
	case 'W': // weeks begin on Monday
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7)
	}
	return "%" + string(directive)
}

// timeOf is os.time: the seconds since 1970 of now, or of the date in a table, in local time.
func timeOf(L *lua.LState) int {
	if L.Get(1) == lua.LNil {
		L.Push(lua.LNumber(time.Now().Unix()))
		return 1
	}
	table := L.CheckTable(1)
	part := func(name string, absent int) int {
		v := L.GetField(table, name)
		if v == lua.LNil && absent >= 0 {
			return absent
		}
		n, ok := numberValue(v)
		if !ok {
			L.ArgError(1, fmt.Sprintf("the field %q: %v", name, diag.Expected("a number").Got("%s", kindOf(v))))
		}
		return int(n)
	}
	year, month, day := part("year", -1), part("month", -1), part("day", -1)
	t := time.Date(year, time.Month(month), day, part("hour", 12), part("min", 0), part("sec", 0), 0, time.Local)
	L.Push(lua.LNumber(t.Unix()))
	return 1
}
