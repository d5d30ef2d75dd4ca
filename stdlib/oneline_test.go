package stdlib_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/stdlib"
)

// mayHave are properties that may contain line breaks or NUL bytes: lines of a file, keys, patterns, or texts that a
// format can escape.
var mayHave = map[string]string{
	"apt_repo.key": "line break, NUL", "package_key.key": "line break, NUL",
	"block.content": "line break", "firewall.rules": "line break", "unit.content": "line break",
	"block.insert_after": "line break, NUL", "kv.ends_at": "line break, NUL", "line.match": "line break, NUL", "line.insert_before": "line break, NUL", "line.insert_after": "line break, NUL",
	"replace.name": "line break, NUL", "replace.match": "line break, NUL", "replace.replacement": "line break, NUL",
	"json_setting.name": "line break, NUL", "json_setting.key": "line break, NUL", "json_setting.value": "line break, NUL",
	"toml_setting.name": "line break, NUL", "toml_setting.key": "line break, NUL", "toml_setting.value": "line break, NUL",
	"yaml_setting.name": "line break, NUL", "yaml_setting.key": "line break, NUL", "yaml_setting.value": "line break, NUL",
	"language_package.source": "line break",
}

// TestTextsOfOneLine: line breaks and NUL bytes in a property do not reach a file or a command, except where a text
// may have several lines. A further line would be a further setting, and C programs stop reading at NUL.
func TestTextsOfOneLine(t *testing.T) {
	if testing.Short() {
		t.Skip("tries every hostile case: make test-all")
	}
	files, err := fs.Glob(stdlib.Library, "std/*.lua")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "std/"), ".lua")
		code := exampleOf(t, file)
		if code == "" || !strings.Contains(code, name+" {") {
			continue
		}
		reg, _, mistakes := evaluate(t, `require "std.`+name+`"`)
		require.Empty(t, mistakes)
		for _, f := range reg.Type(name).Schema().Fields {
			for what, char := range map[string]string{"NUL": `\0`, "line break": `\n`} {
				value := map[schema.Kind]string{
					schema.String: `"a` + char + `b"`, schema.List: `{ "a` + char + `b" }`, schema.Map: `{ a = "a` + char + `b" }`, schema.Any: `"a` + char + `b"`,
				}[f.Kind]
				if value == "" || f.Values != nil || what == "line break" && f.ValueKind == "path" {
					continue
				}
				key := f.Name
				if f.IsName {
					key = "1"
				}
				script := "local base\nlocal function " + name + "(t) base = base or t end\n" +
					strings.ReplaceAll(code, "std."+name+" {", name+" {") +
					"\nbase[tonumber '" + key + "' or '" + key + "'] = " + value + "\nrequire 'std." + name + "' (base)"
				_, _, mistakes := evaluate(t, script)
				require.Equal(t, strings.Contains(mayHave[name+"."+f.Name], what), mistakes == "", "%s.%s: %s: %s", name, f.Name, what, mistakes)
			}
		}
	}
}
