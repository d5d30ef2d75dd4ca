package std

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A call is one call of a library function. Its arguments have the types of the signature. Methods
// for arguments, results and mistakes of all libraries are here; functions for one library only are
// in the file of that library.
type call struct {
	*instance
	L    *lua.LState
	name string // the name in messages: str.split
	work int    // values that were looked at
}

// fail throws a mistake of the script.
func (c *call) fail(format string, args ...any) { c.failWith("", format, args...) }

// failWith is fail with advice.
func (c *call) failWith(hint, format string, args ...any) {
	c.in.Throw(c.L, hint, c.name+": "+format, args...)
}

// must throws err, with its hint, unless it is nil.
func (c *call) must(err error) {
	if err != nil {
		c.fail("%w", err)
	}
}

// given reports whether there is an argument number n that is not nil.
func (c *call) given(n int) bool { return c.L.Get(n) != lua.LNil }

// str returns argument n, "" if it is missing.
func (c *call) str(n int) string {
	s, _ := c.L.Get(n).(lua.LString)
	return string(s)
}

// strOr returns argument n, or a default.
func (c *call) strOr(n int, def string) string {
	if s, ok := c.L.Get(n).(lua.LString); ok {
		return string(s)
	}
	return def
}

// number returns argument n.
func (c *call) number(n int) float64 {
	v, _ := c.L.Get(n).(lua.LNumber)
	return float64(v)
}

// integer returns argument n, or a default.
func (c *call) integer(n, def int) int {
	v, ok := c.L.Get(n).(lua.LNumber)
	if !ok {
		return def
	}
	return clampInt(float64(v))
}

// clampInt returns f without its fraction, bounded by the 32-bit integers.
func clampInt(f float64) int {
	switch {
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	}
	return int(f)
}

// truth returns argument n, false if it is missing.
func (c *call) truth(n int) bool { return c.L.Get(n) == lua.LTrue }

// fn returns argument n.
func (c *call) fn(n int) *lua.LFunction {
	f, _ := c.L.Get(n).(*lua.LFunction)
	return f
}

// table returns argument n, or the table behind it if it is read-only, or nil if it is missing.
func (c *call) table(n int) *lua.LTable {
	t, ok := c.L.Get(n).(*lua.LTable)
	if !ok {
		return nil
	}
	return c.in.Tables.Listing(c.L, t)
}

// list returns argument n, which must be a list, and its length.
func (c *call) list(n int) (*lua.LTable, int) {
	t := c.table(n)
	length := t.Len()
	if k, _ := t.Next(after(length)); k != lua.LNil {
		c.fail("%w", diag.Expected("a list as argument %d", n).Got("a table with the name %s", keyText(k)))
	}
	return t, length
}

// strings returns argument n, a list of strings.
func (c *call) strings(n int) []string {
	t, length := c.list(n)
	out := make([]string, length)
	for i := range out {
		v := t.RawGetInt(i + 1)
		s, ok := v.(lua.LString)
		if !ok {
			c.fail("%w", diag.Expected("a list of strings as argument %d", n).Got("%s as item %d", c.describe(v), i+1))
		}
		out[i] = string(s)
	}
	return out
}

// option returns a field of the table of options that argument n is, or nil.
func (c *call) option(n int, name string) lua.LValue {
	t := c.table(n)
	if t == nil {
		return lua.LNil
	}
	return t.RawGetString(name)
}

// optionStr returns an option, or a default.
func (c *call) optionStr(n int, name, def string) string {
	if s, ok := c.option(n, name).(lua.LString); ok {
		return string(s)
	}
	return def
}

// give returns values to the script.
func (c *call) give(values ...lua.LValue) int {
	for _, v := range values {
		c.L.Push(v)
	}
	return len(values)
}

// giveStr returns a string to the script, unless it is too long.
func (c *call) giveStr(s string) int {
	c.checkRoom(len(s))
	c.in.Take(c.L, len(s))
	c.L.Push(lua.LString(s))
	return 1
}

// checkRoom throws the mistake that a result is too long if n bytes are too many.
func (c *call) checkRoom(n int) {
	if n > maxString {
		c.fail("the result %w", diag.MustBe("at most %d MiB", maxString>>20))
	}
}

// checkItems throws the mistake that a result has too many values if n values are too many.
func (c *call) checkItems(n int) {
	if n > maxItems {
		c.fail("the result must have at most %d values", maxItems)
	}
}

// look counts a visited value. Tables that contain one another many times can have more values than
// can be visited, so look stops with the evaluation.
func (c *call) look() {
	if c.work++; c.work%1024 == 0 {
		c.must(c.in.Context().Err())
	}
}

// giveStrings returns a list of strings.
func (c *call) giveStrings(list []string) int {
	c.checkItems(len(list))
	t := c.L.CreateTable(len(list), 0)
	for i, s := range list {
		t.RawSetInt(i+1, lua.LString(s))
	}
	c.L.Push(t)
	return 1
}

// invoke calls a function of the script and returns its first result.
func (c *call) invoke(fn lua.LValue, args ...lua.LValue) lua.LValue {
	c.L.Push(fn)
	for _, a := range args {
		c.L.Push(a)
	}
	c.L.Call(len(args), 1)
	v := c.L.Get(-1)
	c.L.Pop(1)
	return v
}

// describe describes v for "got ...".
func (s *instance) describe(v lua.LValue) string {
	switch v := v.(type) {
	case *lua.LNilType:
		return "nil"
	case lua.LBool:
		return v.String()
	case lua.LNumber:
		return "the number " + v.String()
	case lua.LString:
		if len(v) > 60 {
			return fmt.Sprintf("a string of %d bytes", len(v))
		}
		return strconv.Quote(string(v))
	case *lua.LUserData:
		if v == s.null {
			return "json.null"
		}
		return "a value of ccm"
	}
	return "a " + v.Type().String()
}

// after returns the argument that makes Next return the fields behind position n.
func after(n int) lua.LValue {
	if n == 0 {
		return lua.LNil
	}
	return lua.LNumber(n)
}

// keyText formats a key for messages.
func keyText(k lua.LValue) string {
	if s, ok := k.(lua.LString); ok {
		return strconv.Quote(string(s))
	}
	return strings.TrimPrefix(k.String(), "table: ")
}
