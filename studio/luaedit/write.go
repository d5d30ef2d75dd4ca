package luaedit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/luadata"

	"github.com/luaccm/ccm/runtime/template"
)

// An Expr is Lua text that becomes a field's value unchanged.
type Expr string

// Write returns a value in Lua. old is the replaced text, "" for none: a string keeps its quotes if
// possible.
func Write(v any, old string) string {
	switch v := v.(type) {
	case Expr:
		return string(v)
	case nil:
		return "nil"
	case string:
		return quoted(v, old)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = Write(v[i], "")
		}
		return braces(parts)
	case map[string]any:
		var parts []string
		for key, e := range v {
			parts = append(parts, template.LuaKey(key, false)+" = "+Write(e, ""))
		}
		slices.Sort(parts)
		return braces(parts)
	}
	return fmt.Sprint(v)
}

func braces(parts []string) string {
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// quoted returns a text as a literal. Long text stands in long brackets.
func quoted(v, old string) string {
	if strings.Contains(v, "\n") && !strings.ContainsAny(v, "\r\x00") && (strings.HasPrefix(old, "[") || strings.Count(v, "\n") > 1) {
		level := ""
		for strings.Contains(v+"]", "]"+level+"]") {
			level += "="
		}
		return "[" + level + "[\n" + v + "]" + level + "]" // Lua drops the first newline
	}
	if strings.HasPrefix(old, "'") && !strings.ContainsAny(v, "'\\\"\n\r\t\x00") {
		if q := luadata.Quote(v); q == `"`+v+`"` {
			return "'" + v + "'"
		}
	}
	return luadata.Quote(v)
}
