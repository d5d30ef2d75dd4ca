package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/luaapi/spec"
	"github.com/luaccm/ccm/runtime/converge"
	"github.com/luaccm/ccm/runtime/event"
	"github.com/luaccm/ccm/runtime/host/hosttest"
	"github.com/luaccm/ccm/runtime/report"
	"github.com/luaccm/ccm/site"
)

// examples is the path of the examples.
const examples = "../../examples"

// resourcesOf returns the catalog of a script or manifest without positions.
func resourcesOf(t *testing.T, file string) []any {
	t.Helper()
	out, stderr, status := ccm(t, nil, "catalog", "--output", "json", file)
	require.Zero(t, status, stderr)
	var c struct{ Resources []any }
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	for _, r := range c.Resources {
		delete(r.(map[string]any), "position")
		delete(r.(map[string]any), "scope")
	}
	return c.Resources
}

// TestExamplesAreOneSite: each example has the same catalog in Lua, in YAML, and in the Lua that convert makes from
// the YAML.
func TestExamplesAreOneSite(t *testing.T) {
	isolate(t)
	manifests, err := filepath.Glob(filepath.Join(examples, "*", "site.yaml"))
	require.NoError(t, err)
	require.Greater(t, len(manifests), 2)
	for _, file := range manifests {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			script := strings.TrimSuffix(file, "yaml") + "lua"
			want := resourcesOf(t, script)
			require.NotEmpty(t, want)
			require.Equal(t, want, resourcesOf(t, file))

			lua, stderr, status := ccm(t, nil, "convert", file)
			require.Zero(t, status, stderr)
			// It reads data and sources beside itself.
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Dir(file))))
			converted := filepath.Join(dir, "converted.lua")
			require.NoError(t, os.WriteFile(converted, []byte(lua), 0o600))
			got, err := json.Marshal(resourcesOf(t, converted))
			require.NoError(t, err)
			abs, err := filepath.Abs(filepath.Dir(file))
			require.NoError(t, err)
			wanted, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, strings.ReplaceAll(string(wanted), abs, dir), string(got), lua)
		})
	}
}

// TestHello runs the first example as in the README: the plan changes nothing, the run does what the plan said, and a
// second run has nothing to do.
func TestHello(t *testing.T) {
	isolate(t)
	site, dir := filepath.Join(examples, "hello", "site.lua"), filepath.Join(t.TempDir(), "site")
	_, stderr, status := ccm(t, nil, "plan", "--detailed-exitcodes", site, dir)
	require.Equal(t, 2, status, stderr)
	require.NoDirExists(t, dir)
	out, stderr, status := ccm(t, nil, "run", "--detailed-exitcodes", site, dir)
	require.Equal(t, 2, status, stderr)
	require.Contains(t, out, "Executed via subscribe, because file#"+dir+"/conf/app.conf changed")
	require.FileExists(t, filepath.Join(dir, "reloaded"))
	out, stderr, status = ccm(t, nil, "run", "--detailed-exitcodes", site, dir)
	require.Zero(t, status, stderr)
	require.Contains(t, out, "Nothing to do: 6 resources up to date")
}

// TestExamplePlans: plan.txt is the plan of an example for an empty machine. UPDATE=1 writes it. The plan of the web
// example has versions of packages and comes from a real system (test/integration).
func TestExamplePlans(t *testing.T) {
	isolate(t)
	given := spec.Fixture{
		Args: []string{"/srv/hello"},
		Facts: map[string]any{
			"hostname": "web01", "cpu": map[string]any{"count": int64(4)},
			"os":   map[string]any{"family": "debian", "name": "debian"},
			"user": map[string]any{"name": "root", "group": "root"},
		},
	}
	for _, name := range []string{"hello", "release"} {
		e := newEnv(strings.NewReader(""), io.Discard, io.Discard, hosttest.Clock{})
		c, err := site.LoadSpec(t.Context(), e.Process, t.TempDir(), filepath.Join(examples, name, "site.lua"), given)
		require.NoError(t, err)
		var out strings.Builder
		text := report.Text{W: &out, Diff: report.DiffChanges}
		engine := &converge.Engine{Registry: c.Site.Registry, Facts: c.Site.Facts, Reporters: []event.Reporter{text}, Texts: true, Sequential: true}
		sum := engine.Plan(t.Context(), &c.Site.Host.View, c.Site.Catalog)
		sum.Duration = 0
		text.Summary(sum)
		golden := filepath.Join(examples, name, "plan.txt")
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String())
	}
}

// TestRoles: each role has a catalog on its families of systems, and lint has no warnings.
// test/integration/roles_test.go converges the roles in labs.
func TestRoles(t *testing.T) {
	long(t)
	isolate(t)
	scripts, err := filepath.Glob(filepath.Join(examples, "roles", "*", "site.lua"))
	require.NoError(t, err)
	require.Len(t, scripts, 15)
	for _, script := range scripts {
		_, stderr, status := ccm(t, nil, "lint", script)
		require.Zero(t, status, stderr)
		for _, system := range [][]string{{"debian", "debian", "12"}, {"debian", "ubuntu", "24"}, {"rhel", "rocky", "9"}} {
			_, stderr, status := ccm(t, nil, "catalog", script, "--fact", "os.family="+system[0], "--fact", "os.id="+system[1], "--fact", "os.release_major="+system[2])
			require.Zero(t, status, "%s %s\n%s", script, system, stderr)
			require.Empty(t, stderr)
		}
	}
}

// TestRoleMistakes: the roles refuse settings that make no sense, before anything is planned.
func TestRoleMistakes(t *testing.T) {
	long(t)
	isolate(t)
	for _, tt := range []struct{ role, old, new, want string }{
		{"proxy", "backend: app", "backend: apps", "frontend http: no backend apps in site.yaml"},
		{"proxy", "max_connections: 4096", "max_connections: 0", `data.max_connections: expected int(value) > 0, got "0"`},
		{"mail", "tls: encrypt", "tls: yes please", "data.relay.tls: expected value in"},
		{"mail", "port: 587", "port: 70000", "data.relay.port: expected"},
		{"runner", "version: 2.319.1", "version: latest", "data.version: expected"},
		{"wireguard", "10.8.0.3/32", "10.8.0.2/32", "peers laptop and office both have 10.8.0.2/32"},
		{"wireguard", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=", "laptop", "peer laptop: public_key is not one of WireGuard"},
		{"prometheus", "retention: 30d", "retention: long", "data.retention: expected"},
		{"redis", "open_files: 65536", "open_files: 10", "data.open_files: expected"},
		{"backup", "home: /srv/backup", "home: backup", "data.home: expected"},
		{"bastion", "journal_retention: 1year", "journal_retention: always", "data.journal_retention: expected"},
		{"php", "name: app", "name: The App", "data.name: expected"},
		{"k3s", "role: server", "role: agent", "an agent wants server in config, and token_file"},
		{"k3s", "v1.30.4+k3s1", "latest", "data.version: expected"},
	} {
		dir := filepath.Join(t.TempDir(), tt.role)
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(examples, "roles", tt.role))))
		settings := filepath.Join(dir, "site.yaml")
		text, err := os.ReadFile(settings)
		require.NoError(t, err)
		require.Contains(t, string(text), tt.old)
		require.NoError(t, os.WriteFile(settings, []byte(strings.Replace(string(text), tt.old, tt.new, 1)), 0o600))
		_, stderr, status := ccm(t, nil, "catalog", filepath.Join(dir, "site.lua"))
		require.Equal(t, 1, status, "%s: %s", tt.role, tt.new)
		require.Contains(t, stderr, tt.want)
	}
}

// TestExampleModules: the specs of all example modules and roles pass.
func TestExampleModules(t *testing.T) {
	isolate(t)
	modules, err := filepath.Glob(filepath.Join(examples, "modules", "*"))
	require.NoError(t, err)
	require.Greater(t, len(modules), 2)
	roles, err := filepath.Glob(filepath.Join(examples, "roles", "*", "spec"))
	require.NoError(t, err)
	require.Len(t, roles, 10)
	for _, dir := range roles {
		modules = append(modules, filepath.Dir(dir))
	}
	for _, dir := range modules {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Chdir(dir)
			stdout, stderr, status := ccm(t, nil, "test")
			require.Zero(t, status, stdout+stderr)
			require.Regexp(t, `[1-9]\d* successes / 0 failures / 0 errors / 0 pending`, stdout+stderr)
		})
	}
}
