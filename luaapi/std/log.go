package std

import (
	"log/slog"

	lua "github.com/yuin/gopher-lua"
)

func logLibrary() *Library {
	return &Library{
		Name: "log",
		Doc:  "Prints messages on the standard error. ccm.warn adds the position, ccm.fail stops the script.",
		Funcs: []Func{
			logFunc("debug", "Prints a message that is shown with --debug only.", slog.LevelDebug),
			logFunc("info", "Prints a message.", slog.LevelInfo),
			logFunc("warn", "Prints a warning.", slog.LevelWarn),
			logFunc("error", "Prints an error. The script continues.", slog.LevelError),
		},
	}
}

func logFunc(name, doc string, level slog.Level) Func {
	return Func{
		Signature: name + `(message: string, values?: table<string, any>)`,
		Doc:       doc + " The values are appended as name=value, sorted.",
		Example:   `log.` + name + `("checked", { hosts = 3 })`, Result: ``,
		Fn: func(c *call) int {
			var attrs []slog.Attr
			if t := c.table(2); t != nil {
				for _, k := range sortedKeys(t) {
					attrs = append(attrs, slog.String(lua.LVAsString(k), displayText(c, t.RawGet(k))))
				}
			}
			c.Log.LogAttrs(c.in.Context(), level, c.str(1), attrs...)
			return 0
		},
	}
}

// displayText formats v for people: a string unchanged, any other value as inspect writes it on one
// line.
func displayText(c *call, v lua.LValue) string {
	if s, ok := v.(lua.LString); ok {
		return string(s)
	}
	return inspect(c, v, inspectOptions{newline: " "})
}
