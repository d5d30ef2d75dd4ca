package manifest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
)

const child = `
data: {port: 80, list: [a]}
ccm:
  resources:
    - file:
        - "/etc/port-${ Data.port }": {owner: root, source: app.conf, content: }
    - package:
        - "${ join(Data.list, '-') }":
`

func TestApply(t *testing.T) {
	w := newWorld(t, map[string]string{"app/manifest.yaml": child})
	_, err := w.load(t, "m.yaml", in(`
    - package: [{first: }]
    - apply:
        - app/manifest.yaml:
            data: {port: 8080, list: [b]}
            require: package#first
    - exec:
        - notify.sh: {refresh_only: true, subscribe: [apply#app/manifest.yaml]}
`))
	require.NoError(t, err)
	require.Equal(t, []string{"package#first", "file#/etc/port-8080", "package#a-b", "apply#app/manifest.yaml", "exec#notify.sh"}, w.ids())
	require.Equal(t, "/site/app/app.conf", spec[File](t, w, "file#/etc/port-8080").Source, "paths are relative to the child")

	c, err := w.Builder.Build()
	require.NoError(t, err)
	deps := map[string][]string{}
	for i, r := range c.Resources {
		for _, d := range c.Deps[i] {
			mark := ""
			if d.Refresh {
				mark = "*"
			}
			deps[r.ID.String()] = append(deps[r.ID.String()], c.Resources[d.Index].ID.String()+mark)
		}
	}
	require.Equal(t, map[string][]string{
		"file#/etc/port-8080":     {"package#first"},
		"package#a-b":             {"package#first"},
		"apply#app/manifest.yaml": {"package#first", "file#/etc/port-8080*", "package#a-b*"},
		"exec#notify.sh":          {"apply#app/manifest.yaml*"},
	}, deps)
}

func TestNamesOfNestedAppliesAreRelative(t *testing.T) {
	nested := in("    - apply:\n        - lib/manifest.yaml:\n    - exec:\n        - %s: {subscribe: apply#lib/manifest.yaml}\n")
	w := newWorld(t, map[string]string{
		"one/manifest.yaml":     fmt.Sprintf(nested, "one"),
		"two/manifest.yaml":     fmt.Sprintf(nested, "two"),
		"one/lib/manifest.yaml": in("    - package: [{one: }]\n"),
		"two/lib/manifest.yaml": in("    - package: [{two: }]\n"),
	})
	_, err := w.load(t, "m.yaml", in("    - apply:\n        - one/manifest.yaml:\n        - two/manifest.yaml:\n        - one/manifest.yaml:\n"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"package#one", "apply#one/lib/manifest.yaml", "exec#one", "apply#one/manifest.yaml",
		"package#two", "apply#two/lib/manifest.yaml", "exec#two", "apply#two/manifest.yaml",
	}, w.ids())
	require.Equal(t, "one/lib/manifest.yaml", w.Get(resource.ID{Type: "exec", Name: "one"}).Common.Subscribe[0].Name)
}

// TestStrengthening is the table of the documentation, and the same for health
// checks.
func TestStrengthening(t *testing.T) {
	for _, tt := range []struct {
		parent resource.Restraint
		props  string
		want   resource.Restraint
	}{
		{resource.Noop, "noop: false", resource.Noop},
		{resource.Noop, "noop: true", resource.Noop},
		{resource.Unrestrained, "noop: true", resource.Noop},
		{resource.Unrestrained, "noop: false", resource.Unrestrained},
		{resource.Unrestrained, "health_check_only: true", resource.MonitorOnly},
		{resource.MonitorOnly, "health_check_only: false", resource.MonitorOnly},
		{resource.Noop, "health_check_only: true", resource.MonitorOnly},
	} {
		w := newWorld(t, map[string]string{"c.yaml": in("    - package: [{x: }]\n")})
		u := w.units.Root("m.yaml", "/site")
		u.Scope.Restraint = tt.parent
		_, err := w.Load(t.Context(), u, in("    - apply: [{c.yaml: {"+tt.props+"}}]\n"))
		require.NoError(t, err)
		require.Equal(t, tt.want, w.Get(resource.ID{Type: "package", Name: "x"}).Restraint(), "%v %s", tt.parent, tt.props)
		require.Equal(t, tt.parent, w.Get(resource.ID{Type: "apply", Name: "c.yaml"}).Restraint())
	}
}

func TestApplyMistakes(t *testing.T) {
	files := map[string]string{
		"self.yaml":   in("    - apply: [{self.yaml: }]\n"),
		"sub/up.yaml": in("    - apply: [{../sub/up.yaml: }]\n"),
		"bad.yaml":    in("    - package: [{x: {ensur: 1}}]\n"),
		"broken.yaml": "a: [\n",
		"rule.yaml":   "data:\n  # @require\n  a: ''\nccm: {resources: []}\n",
		"outer.yaml":  in("    - apply: [{bad.yaml: }]\n"),
		"more.yaml":   in("    - package: [{x: }]\n    - apply: [{leaf.yaml: }]\n"),
		"leaf.yaml":   in("    - package: [{leaf: }]\n"),
	}
	arrow := strings.Repeat("self.yaml → ", 11) + "self.yaml"
	for _, tt := range []struct{ yaml, want string }{
		{"nope.yaml: ", "m.yaml:3:16: apply#nope.yaml: no file /site/nope.yaml"},
		{"self.yaml: ", "self.yaml:3:16: apply#self.yaml: manifests are nested more than 10 deep: m.yaml → " + arrow[:len(arrow)-len("self.yaml → ")]},
		{"bad.yaml: ", "bad.yaml:3:22: package#x: unknown property \"ensur\" (did you mean \"ensure\"?)\n  m.yaml:3:16: applied from here"},
		{"outer.yaml: ", "bad.yaml:3:22: package#x: unknown property \"ensur\" (did you mean \"ensure\"?)\n  outer.yaml:3:16: applied from here\n  m.yaml:3:16: applied from here"},
		{"broken.yaml: ", "broken.yaml:1:4: not valid YAML: \"[\" is not closed\n  m.yaml:3:16: applied from here"},
		{"rule.yaml: ", "rule.yaml:2:5: data.a is required\n  m.yaml:3:16: applied from here"},
		{"more.yaml: {allow_apply: false}", "more.yaml:4:16: apply#leaf.yaml: cannot apply here: more.yaml is applied with allow_apply = false\n  m.yaml:3:16: applied from here"},
		{"leaf.yaml: {data: 5}", "m.yaml:3:34: apply#leaf.yaml: data: expected a table, got the number 5"},
	} {
		w := newWorld(t, files)
		_, err := w.load(t, "m.yaml", in("    - apply: [{"+tt.yaml+"}]\n"))
		require.Error(t, err, tt.yaml)
		require.Contains(t, err.Error(), tt.want, tt.yaml)
		if !strings.Contains(tt.yaml, "self") {
			require.EqualError(t, err, tt.want)
		}
	}
}

func TestApplyingTheSameTwice(t *testing.T) {
	files := map[string]string{"c.yaml": "data: {n: 1}\n" + in("    - package: [{\"p${ Data.n }\": }]\n")}
	w := newWorld(t, files)
	_, err := w.load(t, "m.yaml", in("    - apply: [{c.yaml: }, {c.yaml: {data: {n: 2}}}]\n"))
	require.EqualError(t, err, "m.yaml:3:28: apply#c.yaml: is already declared at m.yaml:3:16")
}

// TestScripts has a front end of one line for scripts: it declares the packages
// that the text names, and applies what begins with @.
func TestScripts(t *testing.T) {
	w := newWorld(t, map[string]string{
		"s.lua":        "alpha @sub/c.yaml",
		"sub/c.yaml":   "data: {x: none}\n" + in("    - package: [{\"from-${ Data.x }\": }]\n    - apply: [{deep.lua: }]\n"),
		"sub/deep.lua": "deep",
	})
	w.script = func(ctx context.Context, u *catalog.Unit, text string) error {
		for word := range strings.FieldsSeq(text) {
			typ, props := "package", []schema.Entry{{Key: "name", Val: schema.StringValue(strings.TrimPrefix(word, "@"))}}
			if strings.HasPrefix(word, "@") {
				typ = "apply"
				props = append(props, schema.Entry{Key: "data", Val: schema.MapValue(&schema.Table{Entries: []schema.Entry{{Key: "x", Val: schema.StringValue("lua")}}})})
			}
			r, err := w.Registry.Type(typ).Decode(&schema.Table{Entries: props}, resource.Origin{Scope: u.Scope})
			if err != nil {
				return err
			}
			if _, err := u.Add(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := w.load(t, "m.yaml", in("    - apply: [{s.lua: {noop: true}}]\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"package#alpha", "package#from-lua", "package#deep", "apply#sub/deep.lua", "apply#sub/c.yaml", "apply#s.lua"}, w.ids())
	r := w.Get(resource.ID{Type: "package", Name: "deep"})
	require.Equal(t, resource.Noop, r.Restraint())
	require.Equal(t, 3, r.Scope.Depth())
}

func TestOverlays(t *testing.T) {
	w := newWorld(t, map[string]string{"c.yaml": "data: {a: child, b: child, l: [1]}\n" + in("    - package: [{\"${ Data.a }-${ Data.b }-${ len(Data.l) }\": }]\n")})
	w.Overlays = []manifest.Source{{File: "site.yaml", Text: "hierarchy: {order: [\"os:${ Facts.os.family }\"]}\ndata: {a: base}\noverrides: {os:debian: {a: site, l: [3]}}\n"}}
	_, err := w.load(t, "m.yaml", "data: {a: m, c: kept}\n"+in("    - package: [{\"${ Data.a }-${ Data.c }\": }]\n    - apply: [{c.yaml: {data: {a: given, b: given, l: [2]}}}]\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"package#site-kept", "package#site-given-3", "apply#c.yaml"}, w.ids(), "what the command line gives wins")

	w = newWorld(t, nil)
	w.Overlays = []manifest.Source{{File: "site.yaml", Text: "packages: []\n"}}
	_, err = w.load(t, "m.yaml", "ccm: {resources: []}\n")
	require.EqualError(t, err, `site.yaml:1:1: unknown key "packages" (put your data under data; allowed beside it: hierarchy, overrides, ccm)`)

	// A rule of the manifest is about the merged data.
	w = newWorld(t, nil)
	w.Overlays = []manifest.Source{{File: "site.yaml", Text: "data: {user: bob}\n"}}
	_, err = w.load(t, "m.yaml", "data:\n  # @require\n  user: ''\nccm: {resources: []}\n")
	require.NoError(t, err)
}

func TestData(t *testing.T) {
	w := newWorld(t, nil)
	tree, err := w.Data(manifest.Source{File: "site.yaml", Text: "data: {x: {y: 1}, f: \"${ Facts.os.family }\"}\n"}, nil)
	require.NoError(t, err)
	val, err := w.Env(tree, "/site").Lookup("data.x.y")
	require.NoError(t, err)
	require.Equal(t, int64(1), val)
	require.Equal(t, "debian", tree["f"])
}
