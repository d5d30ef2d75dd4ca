package luaapi_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi"
	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
)

// longText is a comment that makes a script long enough to be divided.
var longText = "--" + strings.Repeat("-", 10<<10) + "\n"

func evaluate(t testing.TB, script string) (string, *catalog.Builder, error) {
	t.Helper()
	var out bytes.Buffer
	b := new(catalog.Builder)
	in := luaapi.New(luaapi.Options{Registry: registry(t), Builder: b, Print: &out})
	defer in.Close()
	err := in.Run(context.Background(), "site.lua", script)
	return out.String(), b, err
}

// data returns a table of n different entries.
func data(open, format string, n int) string {
	var b strings.Builder
	b.WriteString(open)
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	b.WriteString("}\n")
	return b.String()
}

// The time to load data grows linearly with its size: 40,000 entries load in less than a second.
func TestManyConstants(t *testing.T) {
	if testing.Short() {
		t.Skip("measures large inputs: make test-all")
	}
	const n = 40_000
	const few = 10_000 // for forms that take longer, and once grew with the square
	for name, c := range map[string]struct{ script, want string }{
		"list":           {data("local t = {", "'v%d',\n", n) + "print(#t, t[1], t[30000], t[40000])", "40000\tv1\tv30000\tv40000\n"},
		"names":          {data("local t = {", "k%d = %[1]d,\n", n) + "print(t.k1, t.k40000)", "1\t40000\n"},
		"records":        {data("local t = {", "{name = 'n%d', port = %[1]d, on = true},\n", n) + "print(#t, t[40000].name, t[40000].port)", "40000\tn40000\t40000\n"},
		"returned":       {data("local f = function() return {", "a%d = {'b%[1]d'},\n", n) + "end print(f().a7[1], f() == f())", "b7\tfalse\n"},
		"with variables": {data("local owner = 'root' local t = {", "k%d = {owner, 'x%[1]d'},\n", few) + "print(t.k10000[1], t.k10000[2])", "root\tx10000\n"},
		"list with variables": {
			data("local function f(n) return n, 'more' end local t = {", "f('v%d'),\n", n) + "print(#t, t[1], t[30000], t[40000], t[40001])",
			"40001\tv1\tv30000\tv40000\tmore\n",
		},
		"assignments":  {"local t = {}\n" + strings.TrimSuffix(data("", "t['k%d'] = 'v%[1]d'\n", few), "}\n") + "print(t.k10000)", "v10000\n"},
		"in a block":   {"local t = {} do\n" + strings.TrimSuffix(data("", "t.k%d = 'v%[1]d'\n", few), "}\n") + " end print(t.k10000)", "v10000\n"},
		"local values": {"local x = 0\n" + strings.TrimSuffix(data("", "x = x + %d\n", few), "}\n") + "print(x)", "50005000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			out, _, err := evaluate(t, c.script)
			require.NoError(t, err)
			require.Equal(t, c.want, out)
			require.Less(t, time.Since(begin), 30*time.Second) // the machine may be busy
		})
	}
}

// A divided script has the same result as an undivided one.
func TestDividedIsTheSame(t *testing.T) {
	scripts := map[string]string{
		"values": `local t = { 1, -2, 0x10, 010, 1e3, "s", true, nil, false, x = 1, ["y z"] = "q", [5] = "five", [1.5] = -0.5, n = {}, { a = { b = { "c" } } } }
			local function dump(v) if type(v) ~= "table" then return tostring(v) end
			  local keys, out = {}, {} for k in pairs(v) do keys[#keys + 1] = tostring(k) .. "=" .. dump(v[k]) end table.sort(keys) return "{" .. table.concat(keys, ",") .. "}" end
			print(dump(t), #t)`,
		"nil key":   "local k\nlocal t = { [k] = 1,\n%s}",
		"a mistake": "local t = {\n%s\n  a = nothing.x,\n}",
		"deep":      "local x\nlocal t = {\n%s\n  a = { b = { c = x.y } },\n}",
		"a call":    "print('a')\n%s\nfoo()\n",
		"argument":  "local function f(a) return a.b end\n%s\nf(nil)\n",
		"notes":     "local function declare(n) file { n, mdoe = 1 } end\n%s\ndeclare('/a')\n",
		"defined":   "%s\nfile { '/a', content = 'x', mode = 'rw' }\nx = 5\n",
		"upvalues":  "local a, b = 1, 2\n%s\na = a + b\nprint(a)\n",
		"varargs":   "local function f(...)\n%s\nprint(...)\nlocal t = {...}\nprint(#t) end f(1, 2)\n",
		"pcall":     "%s\nprint(pcall(function() local x = nil + 1 end))\nprint(pcall(error, 'x', 2))\n",
		"traceback": "%s\nprint(debug.traceback('x'))\n",
		"coroutine": "%s\nprint(coroutine.wrap(function() coroutine.yield(7) end)())\n",
		"labels":    "local i = 0\n::top::\n%s\ni = i + 1 if i < 3 then goto top end\nprint(i)\n",
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			lines := strings.TrimSuffix(data("", "tostring('s%d')\n", 300), "}\n")
			if strings.Contains(script, "{\n%s") || strings.Contains(script, "1,\n%s") {
				lines = strings.TrimSuffix(data("", "k%d = 's%[1]d',\n", 300), "}\n")
			}
			text := script
			if strings.Contains(script, "%s") {
				text = fmt.Sprintf(script, lines)
			}
			require.Less(t, len(text), 8<<10)
			plain, _, errPlain := evaluate(t, text)
			divided, _, errDivided := evaluate(t, text+longText)
			require.Equal(t, plain, divided)
			require.Equal(t, withCode(errPlain, text), withCode(errDivided, text))
		})
	}
}

// withCode returns the message of a mistake in text with its source line.
func withCode(err error, text string) string {
	if err == nil {
		return ""
	}
	var b strings.Builder
	diag.Render(&b, "", err, func(string) (string, bool) { return text, true })
	return b.String()
}
