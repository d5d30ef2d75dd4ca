package template

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLua(t *testing.T) {
	for code, want := range map[string]string{
		"Data.package_name":                      "data.package_name",
		"lookup('data.package_name')":            "data.package_name",
		"lookup(\"facts.os.family\", 'debian')":  `lookup("facts.os.family", "debian")`,
		"lookup('facts.network.interfaces.#')":   `lookup("facts.network.interfaces.#")`,
		"Facts.network.interfaces[0]['my name']": `facts.network.interfaces[1]["my name"]`,
		"Facts.os['end']":                        `facts.os["end"]`,
		"Environ.HOME":                           "env.HOME",
		"Data.x ?? 'd'":                          `lookup("data.x", "d")`,
		"Data?.x?.y ?? 5":                        `lookup("data.x.y", 5)`,
		"Facts.os.family == 'rhel' && !Data.off": `facts.os.family == "rhel" and not data.off`,
		"(Data.a || Data.b) && Data.c != 2":      `(data.a or data.b) and data.c ~= 2`,
		"Data.a ? 'yes' : 'no'":                  `data.a and "yes" or "no"`,
		"'a' + Data.b + 'c'":                     `"a" .. data.b .. "c"`,
		"Data.n + 1":                             `data.n + 1`,
		"(Data.n - 1) * 2":                       `(data.n - 1) * 2`,
		`"quote \" and \n line"`:                 `"quote \" and \n line"`,
		"Data.a ? Data.b : 'no'":                 "",
		"Data.a + Data.b":                        "",
		"len(Data.l)":                            "",
		"now()":                                  "",
		"file('x')":                              "",
		"filter(Data.l, # > 1)":                  "",
		"1 +":                                    "",
	} {
		got, ok := Lua(code)
		require.Equal(t, want != "", ok, "%s: %s", code, got)
		if ok {
			require.Equal(t, want, got, code)
		}
	}
}
