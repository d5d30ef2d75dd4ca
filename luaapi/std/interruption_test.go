package std_test

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/resource"
)

// One call into a package without contexts that would take minutes ends with the time limit of the evaluation, also
// inside pcall, and leaves no goroutine.
func TestCallsEnd(t *testing.T) {
	for name, script := range map[string]string{
		"test":         `re.test(text, "(a?){1000}b")`,
		"replace":      `re.replace(text, "(a?){1000}b", "")`,
		"long matches": `re.find_all(text, "(?s)a.*b|a")`, // each match is known only at the end of the text
		"words":        `re.find_all(text, "(?s)\\b|a.*b|a")`,
		"split":        `re.split(text, "(?s)a.*b|a")`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			reg, err := resource.NewRegistry()
			require.NoError(t, err)
			in := luaapi.New(luaapi.Options{Registry: reg, Builder: new(catalog.Builder), Facts: l.facts, Print: t.Output(), Timeout: 20 * time.Millisecond, Extend: l.Extend})
			defer in.Close()
			before := runtime.NumGoroutine()
			start := time.Now()
			err = in.Run(context.Background(), filepath.Join(l.site, "site.lua"), "local text = ('a'):rep(2 ^ 22)\npcall(function() return "+script+" end)\nerror 'it went on'")
			require.Less(t, time.Since(start), time.Minute) // of many
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond) // and the goroutine that checks
		})
	}
}

// Calls that would take too long or too much memory for any text are refused.
func TestCostsAreBounded(t *testing.T) {
	l := newLab(t)
	for script, want := range map[string]string{
		`re.test("", ("(a?)"):rep(2000))`:                                                         "re.test: the pattern has 8002 instructions times 2001 groups: expected no more than 4194304",
		`toml.decode("a" .. (".a"):rep(20000) .. " = 1")`:                                         "toml.decode: the text must have at most 20000 keys, parts of keys, tables and lists",
		`toml.decode(("k = 1\n"):rep(20001))`:                                                     "toml.decode: the text must have at most 20000 keys, parts of keys, tables and lists",
		`toml.decode("s = \"\"\"\"\"\"\"\"\nx = [" .. ("{ a = 1 }, "):rep(20000) .. "]")`:         "toml.decode: the text must have at most 20000 keys, parts of keys, tables and lists",
		`toml.decode("s = [\"\"\"a\"\"\"\", {" .. ("'a b'.\"c\\\"d\" = 1, "):rep(10000) .. "}]")`: "toml.decode: the text must have at most 20000 keys, parts of keys, tables and lists",
	} {
		require.Equal(t, want, l.mistake(t, script), script)
	}
	for script, want := range map[string]string{
		`#toml.decode("x = [" .. ("1.5, "):rep(30000) .. "]").x`:                                        "30000",
		`#toml.decode("x = \"\"\"" .. ("a.b = [1]\n"):rep(30000) .. "\"\"\" # " .. ("="):rep(30000)).x`: "300000",
		`#toml.decode("x = '" .. ("a.b = [1]"):rep(30000) .. "'").x`:                                    "270000",
	} {
		require.Equal(t, want, l.eval(t, script), script)
	}
}
