package recovery

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/site"
)

// required has properties without which a resource of a type cannot be declared absent. A type that is not listed
// needs none.
var required = map[string]map[string]string{
	"authorized_key":   {"user": "root", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1nmHKzlgWZWAWDm0sgVM9bQoMVb8Nf6tLQhFvVgbXa"},
	"language_package": {"manager": "pip"},
	"line":             {"line": "x"},
	"scaffold":         {"source": "SOURCE", "engine": "jet"},
	"replace":          {"match": "x", "with": "y"},
	"wait_for":         {"within": "1ms", "interval": "1ms"},
}

// TestRemovalsOfAllTypes: no type that ships with ccm and can be absent removes data below or beside the path that
// its resource is named by, or that any of its paths leads to. A new type is tried without being listed.
func TestRemovalsOfAllTypes(t *testing.T) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	site.AddShipped(reg)
	const at = "/srv/here"
	source := t.TempDir()
	require.NoError(t, os.WriteFile(source+"/rendered", []byte("text"), 0o644))
	starts := map[string]map[string]string{
		"data below":  {at + "/data": "data", at + "/sub/deep/data": "data", at + "/rendered": "text"},
		"empty below": {at + "/empty/": ""},
		"data beside": {at: "file", at + ".data": "data", "/srv/data": "data"},
		"a clone":     {at + "/.git/config": "[core]", at + "/work": "data"},
		"hidden":      {at + "/.data": "data"},
	}
	tried, removed := make(map[string]int), 0
	for _, typ := range reg.Types() {
		ensure := typ.Schema().Field("ensure")
		if ensure == nil || !canBeAbsent(ensure) {
			continue
		}
		for _, name := range []string{at, "here", "here.service"} {
			r, err := absent(typ, name, at, source)
			if err != nil {
				continue
			}
			for start, files := range starts {
				code := silentRunner(0)
				if start == "a clone" { // otherwise git would say that nobody has worked in it
					code = 1
				}
				for _, b := range reg.Bindings(typ) {
					root := t.TempDir()
					plantFiles(t, root, files)
					removed += remove(t.Context(), root, code, b, r)
					tried[typ.Name]++
					for file, text := range files {
						if file == at || file == at+"/rendered" { // the resource itself may go
							continue
						}
						info, err := os.Stat(filepath.Join(root, file))
						require.NoError(t, err, "%s#%s, %s: removed %s", typ.Name, name, start, file)
						if !info.IsDir() {
							found, err := os.ReadFile(filepath.Join(root, file))
							require.NoError(t, err)
							require.Equal(t, text, string(found), "%s#%s, %s: %s", typ.Name, name, start, file)
						}
					}
				}
			}
		}
	}
	for _, typ := range reg.Types() {
		if ensure := typ.Schema().Field("ensure"); ensure != nil && canBeAbsent(ensure) {
			assert.Positive(t, tried[typ.Name], "%s was not tried: say in required what it needs", typ.Name)
		}
	}
	require.Positive(t, removed) // such as a file
}

// restoredByFiles are the types whose removal runs a program, and leaves nothing that the backups of files do not bring
// back.
var restoredByFiles = map[string]string{
	"apt_repo": "apt-get only fetches its lists",
	"archive":  "its files are backed up",
	"cron":     "only reads accounts",
	"git":      "the clone is backed up",
	"sysctl":   "the value of the running kernel stays",
	"wait_for": "removes nothing",
	"yum_repo": "dnf only fetches its lists", "zypper_repo": "zypper only fetches its lists",
}

// TestRemovalsAreUndone: a type that can be absent either runs no programs, so that backups of files bring all back, or
// says how undo makes its things again.
func TestRemovalsAreUndone(t *testing.T) {
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	require.NoError(t, err)
	site.AddShipped(reg)
	for _, typ := range reg.Types() {
		ensure := typ.Schema().Field("ensure")
		if ensure == nil || !canBeAbsent(ensure) {
			continue
		}
		runs := false
		for _, b := range reg.Bindings(typ) {
			runs = runs || len(b.Describe().Commands) > 0
		}
		_, exception := restoredByFiles[typ.Name]
		switch {
		case typ.CanRecreate():
			assert.False(t, exception, "%s has recreate, and is in restoredByFiles", typ.Name)
		case runs:
			assert.True(t, exception, "%s runs programs to remove something: define recreate, or add it to restoredByFiles", typ.Name)
		}
	}
	for name := range restoredByFiles {
		assert.NotNil(t, reg.Type(name), name)
	}
}

// absent returns a resource of a type that is to be absent. Each property that is a path leads to at, and SOURCE in
// required stands for source.
func absent(typ *resource.Type, name, at, source string) (*resource.Resource, error) {
	for _, paths := range []bool{true, false} {
		tab := &schema.Table{}
		tab.Set(typ.Schema().Name().Name, schema.StringValue(name))
		tab.Set("ensure", schema.StringValue("absent"))
		for _, f := range typ.Schema().Fields {
			switch given, ok := required[typ.Name][f.Name]; {
			case ok:
				tab.Set(f.Name, schema.StringValue(strings.ReplaceAll(given, "SOURCE", source)))
			case paths && slices.Contains([]string{"path", "home", "extract_parent", "creates"}, f.Name) && f.Name != typ.Schema().Name().Name:
				tab.Set(f.Name, schema.StringValue(at))
			}
		}
		r, err := typ.Decode(tab, resource.Origin{})
		if err == nil {
			return r, nil
		}
		if !paths {
			return nil, err
		}
	}
	panic("unreachable")
}

// remove does what the engine does for a resource that is to be absent, and returns the number of actions.
func remove(ctx context.Context, root string, commands host.Runner, b resource.Binding, r *resource.Resource) (actions int) {
	rules := new(resource.Removals)
	h := host.New(host.Options{Root: root, Runner: commands})
	ctx = rules.With(ctx, r)
	have, err := b.Status(ctx, &h.View, r.Spec)
	if err != nil {
		return 0
	}
	d := r.Type.Decide(r.Spec, have, false)
	c := rules.Check(ctx, &h.View, r, d)
	if d.Err != nil || c.Err != nil || c.KeepReason != "" {
		return 0
	}
	for _, a := range d.Actions {
		if b.Perform(ctx, rules.Protect(ctx, h, r, d), r.Spec, a) != nil {
			break
		}
		actions++
	}
	return actions
}

// A silentRunner ends every command with an exit code and no output.
type silentRunner int

func (code silentRunner) Run(context.Context, host.Cmd) (host.Result, error) {
	return host.Result{Code: int(code)}, nil
}

// plantFiles makes files; a path that ends in a slash is a directory.
func plantFiles(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(at, 0o755))
		} else {
			require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		}
	}
}
