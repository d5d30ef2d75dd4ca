package repl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/words"
)

// indent puts indent before every line.
func indent(text, indent string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

// short returns plain data in a few words.
func short(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		if len(v) > 40 {
			return strconv.Quote(v[:37] + "...")
		}
		return strconv.Quote(v)
	case []any:
		return words.Count(len(v), "item")
	case map[string]any:
		return words.Count(len(v), "name")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
