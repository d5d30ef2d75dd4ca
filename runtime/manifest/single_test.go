package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/data"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

// singleResource declares one resource with properties in YAML, as a program does.
func singleResource(t *testing.T, w *world, typ, properties string) (*resource.Resource, error) {
	t.Helper()
	doc, err := data.Parse("request", properties)
	require.NoError(t, err)
	s, err := manifest.ParseRequest(w.Registry.Type(typ), manifest.ValueOf(doc.Root).Table())
	if err != nil {
		return nil, err
	}
	s.Pos = diag.Pos{File: "request"}
	return w.Single(t.Context(), w.units.Root("request", "/srv"), s, map[string]any{
		"name": "/etc/motd", "codes": []any{int64(0), int64(2)}, "port": int64(80),
	})
}

func TestSingle(t *testing.T) {
	w := newWorld(t, nil)
	r, err := singleResource(t, w, "file", `{name: "${ Data.name }", content: "port {{ Data.port }}\n", owner: root, source: "", control: {if: "Facts.os.family == 'debian'", unless: "false"}}`)
	require.NoError(t, err)
	require.Equal(t, "file#/etc/motd", r.ID.String())
	require.Equal(t, "port 80\n", *r.Spec.(*File).Content)
	require.Equal(t, "request", r.Pos.String())
	require.Same(t, r, w.Get(r.ID))

	r, err = singleResource(t, w, "file", `{path: /etc/hosts, owner: root, source: hosts}`)
	require.NoError(t, err)
	require.Equal(t, "/srv/hosts", r.Spec.(*File).Source, "relative to the directory of the caller")

	r, err = singleResource(t, w, "exec", `{name: x, returns: "{{ Data.codes }}", headers: {A: "{{ Data.port }}"}, timeout: 5s, any: {n: 1, s: "1.10"}}`)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2}, r.Spec.(*Exec).Returns)
	require.Equal(t, map[string]string{"A": "80"}, r.Spec.(*Exec).Headers)
	require.Equal(t, map[string]any{"n": int64(1), "s": "1.10"}, r.Spec.(*Exec).Any)
}

// A resource that a control excludes may be invalid on this machine.
func TestSingleSkipped(t *testing.T) {
	for control, why := range map[string]string{
		"{if: \"Facts.os.family == 'rhel'\"}": "control.if is false",
		"{if: false}":                         "control.if is false",
		"{unless: 'true'}":                    "control.unless is true",
	} {
		r, err := singleResource(t, newWorld(t, nil), "file", `{name: relative, alias: conf, mode: "${ Facts.nope }", control: `+control+`}`)
		require.NoError(t, err)
		require.Equal(t, why, r.Skip)
		require.Equal(t, "file#relative", r.ID.String())
		require.Equal(t, "conf", r.Common.Alias)
	}
}

// One argument of a command line can give several items.
func TestSingleFromCommandLine(t *testing.T) {
	w := newWorld(t, nil)
	s := manifest.Single{Type: w.Registry.Type("exec"), Prefix: "--", If: new("Data.on"), Properties: &schema.Table{Entries: []schema.Entry{
		{Key: "name", Val: schema.TextValue("{{ Data.command }}")},
		{Key: "returns", Val: schema.ListValue(schema.TextValue("{{ Data.codes }}"), schema.TextValue("7"))},
		{Key: "refreshonly", Val: schema.TextValue("{{ Data.on ? 'true' : 'false' }}")},
	}}}
	r, err := w.Single(t.Context(), w.units.Root("command line", "/"), s, map[string]any{"command": "/bin/true", "codes": []any{int64(0), int64(2)}, "on": true})
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 7}, r.Spec.(*Exec).Returns)
	require.True(t, r.Spec.(*Exec).RefreshOnly)
	require.Equal(t, "exec#/bin/true", r.ID.String())
}

func TestSingleMistakes(t *testing.T) {
	for _, tt := range []struct{ typ, properties, want string }{
		{"file", `{owner: root}`, "request: file: name is required"},
		{"file", `{name: /a, owner: root, mdoe: "0644"}`, `request: file#/a: unknown property "mdoe" (did you mean "mode"?)`},
		{"file", `{name: /a, owner: root, mode: rw}`, `request: file#/a: mode: expected octal permissions such as "0644", got "rw"`},
		{"file", `{name: a, owner: root}`, `request: file#a: name: expected an absolute path, got "a"`},
		{"file", `{name: /a, path: /b, owner: root}`, "request: file#/a: duplicate path (same as name)"},
		{"file", `{name: /a, owner: "${ Facts.nope }", content: "{{ Data.nope }}"}`,
			"request: file#/a: owner: no fact \"nope\" (add a default with lookup(path, default) or ??)\nrequest: file#/a: content: no data \"nope\" (did you mean \"name\"?)"},
		{"file", `{name: /a, owner: root, control: yes}`, "file#/a: control: expected a table with if and unless"},
		{"file", `{name: /a, owner: root, control: {iff: "true"}}`, `file#/a: control: unknown key "iff" (did you mean "if"?)`},
		{"file", `{name: /a, owner: root, control: {if: [1]}}`, "file#/a: control.if: expected an expression that is true or false"},
		{"file", `{name: /a, owner: root, control: {if: "1"}}`, "request: file#/a: control.if: expected true or false, got the number 1"},
		{"package", `{name: zsh, provider: ap}`, `request: package#zsh: provider: expected one of apt, dnf, got "ap" (did you mean "apt"?)`},
	} {
		_, err := singleResource(t, newWorld(t, nil), tt.typ, tt.properties)
		require.EqualError(t, err, tt.want, tt.properties)
	}
}

const protocol = "io.choria.ccm.v1.resource.ensure.request"

func TestRequestSchema(t *testing.T) {
	text, err := json.Marshal(manifest.RequestSchema(registry(t), protocol))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("request.json", doc))
	s, err := c.Compile("request.json")
	require.NoError(t, err)

	request := func(rest string) any {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"protocol":"` + protocol + `",` + rest + `}`))
		require.NoError(t, err, rest)
		return v
	}
	for _, good := range []string{
		`"type":"package","properties":{"name":"zsh"}`,
		`"type":"file","properties":{"path":"/a","owner":"root","mode":"0644","control":{"if":"true"}}`,
		`"type":"exec","properties":{"name":"x","returns":[0,2],"refreshonly":"{{ Data.x }}","require":["file#/a"]}`,
	} {
		require.NoError(t, s.Validate(request(good)), good)
	}
	for _, bad := range []string{
		`"type":"package"`,
		`"type":"package","properties":{}`,
		`"type":"package","properties":{"name":"zsh","mode":"0644"}`,
		`"type":"user","properties":{"name":"zsh"}`,
		`"type":"file","properties":{"name":"/a","mode":"rw"}`,
		`"type":"file","properties":{"name":"/a"},"extra":1`,
	} {
		require.Error(t, s.Validate(request(bad)), bad)
	}
}
