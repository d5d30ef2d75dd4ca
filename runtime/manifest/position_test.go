package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
)

// TestPlacesOfALightManifest holds the places that are found by reading a manifest
// again against those that were kept.
func TestPlacesOfALightManifest(t *testing.T) {
	files := map[string]string{"resources.jet": "[[ range i := slice(1, 2) ]]\n- file:\n    - /jet/[[ i ]]:\n        owner: root\n        require: [exec#a]\n[[ end ]]\n- exec:\n    - a: {}\n"}
	for _, tt := range [][2]string{
		{"named", in("    - file:\n        - /a:\n            owner: root\n            mode: \"0644\"\n        - /b: {owner: app, content: \"x\"}\n    - exec:\n        - c:\n")},
		{"defaults", in("    - file:\n        - defaults: {owner: app,\n            mode: \"0600\"}\n        - /a:\n            owner: root\n        - /b:\n            contents: x\n    - file:\n        - /c: {owner: me}\n")},
		{"single", in("    - exec:\n        require: [file#/a]\n        name: b\n    - file: {path: /a, owner: root}\n")},
		{"anchors", in("    - file:\n        - &name /a:\n            <<: *common\n            mode: \"0644\"\n        - /b: *common\n")},
		{"control", in("    - exec:\n        - a:\n            control: {if: \"true\"}\n            environment: [A=b, C=d]\n        - b: {control: {if: \"false\"}, cwd: /}\n")},
		{"nested", in("    - exec:\n        - a:\n            health_checks:\n              - command: /bin/true\n                tries: 3\n              - {command: /bin/false}\n")},
		{"evaluated keys", in("    - exec:\n        - a:\n            health_checks:\n              - ${ 'command' }: /bin/true\n                tries: 3\n")},
		{"an expression as name", in("    - file:\n        - /${ 'a' }:\n            owner: root\n            content: ${ 'x' }\n")},
		{"jet", "ccm:\n  resources_jet_file: resources.jet\n"},
		{"long", in("    - file:\n" + strings.Repeat("        - /PATH:\n            owner: root\n            content: |\n              a text that is long enough\n              to be set aside\n", 100))},
	} {
		name, text := tt[0], tt[1]
		if strings.Contains(text, "*common") {
			text = "data: {x: &common {owner: app,\n  group: app}}\n" + text
		}
		for i := range strings.Count(text, "PATH") {
			text = strings.Replace(text, "PATH", fmt.Sprint("path", i), 1)
		}
		kept, light := newWorld(t, files), newWorld(t, files)
		light.Light = true
		_, err := kept.load(t, "m.yaml", text)
		require.NoError(t, err, name)
		m, err := light.load(t, "m.yaml", text)
		require.NoError(t, err, name)
		require.Empty(t, m.Resources, name)
		require.Equal(t, kept.ids(), light.ids(), name)
		places := 0
		for i, r := range kept.Resources() {
			l := light.Resources()[i]
			require.Equal(t, r.Pos, l.Pos, "%s: %s", name, r.ID)
			paths := []schema.Path{nil, {"none"}}
			for _, p := range r.Type.Properties().Names() {
				paths = append(paths, schema.Path{p}, schema.Path{p, 0}, schema.Path{p, 1}, schema.Path{p, 0, "command"}, schema.Path{p, 0, "tries"}, schema.Path{p, "none"})
			}
			for _, path := range paths {
				for _, key := range []bool{false, true} {
					want := r.Positions.Locate(path, key)
					require.Equal(t, want, l.Positions.Locate(path, key), "%s: %s: %s", name, r.ID, path)
					if want != r.Pos {
						places++
					}
				}
			}
		}
		require.NotZero(t, places, name)
	}
}

// TestMistakesInALongManifest sees to it that a mistake behind much that is cut out
// of a manifest before it is read has its place.
func TestMistakesInALongManifest(t *testing.T) {
	var text strings.Builder
	text.WriteString("ccm:\n  resources:\n    - file:\n")
	for i := range 500 {
		fmt.Fprintf(&text, "        - /f%d:\n            owner: root\n            mode: \"0644\"\n            content: |\n              %[2]s\n\n              %[2]s\n", i, strings.Repeat("text ", 20))
	}
	lines := strings.Count(text.String(), "\n")
	for _, tt := range []struct{ more, want string }{
		{"        - /x:\n            owner: root\n            mdoe: \"0644\"\n", fmt.Sprintf(`m.yaml:%d:13: file#/x: unknown property "mdoe" (did you mean "mode"?)`, lines+3)},
		{"        - /x:\n            owner: root\n            owner: app\n", fmt.Sprintf(`m.yaml:%d:13: duplicate key "owner"`, lines+3)},
		{"        - /x:\n            content: \"${ nope( }\"\n", fmt.Sprintf("m.yaml:%d:", lines+2)},
		{"        - /x: {\n", fmt.Sprintf("m.yaml:%d:15: not valid YAML", lines+1)},
		{"        - /x:\n            owner: root\n            require: [file#/y]\n", fmt.Sprintf("m.yaml:%d:23: file#/x: require: no resource file#/y", lines+3)},
	} {
		w := newWorld(t, nil)
		w.Light = true
		_, err := w.load(t, "m.yaml", text.String()+tt.more)
		var list diag.List
		list.Add(err)
		require.Len(t, list, 1)
		require.Contains(t, list[0].Error(), tt.want)
	}
}
