//go:build integration

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// publishLanguages makes versions 1.0.0 and 1.1.0 of a wheel, an npm package and a gem.
const publishLanguages = `mkdir -p /opt/project; cd /root
python3 - <<'END'
import zipfile
for v in ("1.0.0", "1.1.0"):
    z = zipfile.ZipFile(f"/root/demo_pkg-{v}-py3-none-any.whl", "w")
    d = f"demo_pkg-{v}.dist-info/"
    z.writestr("demo_pkg.py", f"print('{v}')\n")
    z.writestr(d + "METADATA", f"Metadata-Version: 2.1\nName: demo-pkg\nVersion: {v}\n")
    z.writestr(d + "WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(d + "RECORD", f"demo_pkg.py,,\n{d}METADATA,,\n{d}WHEEL,,\n{d}RECORD,,\n")
    z.close()
END
for v in 1.0.0 1.1.0; do
  mkdir -p n/$v g/$v
  printf '{"name":"demo-npm","version":"%s"}' $v > n/$v/package.json
  npm pack --silent /root/n/$v > /dev/null
  printf 'Gem::Specification.new { |s| s.name = "demo-gem"; s.version = "%s"; s.summary = "x"; s.authors = ["x"]; s.files = [] }\n' $v > g/$v/demo.gemspec
  (cd g/$v && gem build -q demo.gemspec > /dev/null 2>&1 && mv demo-gem-$v.gem /root)
done`

// TestLuaLanguagePackage installs, replaces and removes packages with the real pip, npm and gem. It has few steps,
// because each command takes seconds.
func TestLuaLanguagePackage(t *testing.T) {
	nightly(t)
	l := boot(t, debian)
	l.sh(publishLanguages)
	all := func(args, does string) {
		t.Helper()
		l.converge(step{site: "lua/language.lua " + args, does: []string{
			"language_package#Demo.Pkg: " + does, "language_package#demo-npm: " + does, "language_package#demo-gem: " + does,
		}})
	}
	all("1.0.0 present", "Installed the package")
	l.says("1.0.0", "/opt/venv/bin/python3 -m demo_pkg")
	all("1.1.0 present", "Replaced the package")
	l.says("1.1.0\n1.1.0\ndemo-gem-1.0.0\ndemo-gem-1.1.0",
		`/opt/venv/bin/python3 -m demo_pkg; sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' /opt/project/node_modules/demo-npm/package.json; echo; ls /opt/gems/gems`)
	require.Contains(t, l.exec("/opt/ccm/ccm", "ensure", "language_package", "nosuch", "--manager", "gem", "--options=--local").stdout, "Could not find a valid gem 'nosuch'")
	l.sh("gem install -q --no-document /root/demo-gem-1.0.0.gem")
	require.Contains(t, l.sh("/opt/ccm/ccm import language_package demo-gem"), `manager = "gem"`)
	all("1.1.0 absent", "Removed the package")
	l.says("", "ls /opt/gems/gems; ls /opt/project/node_modules 2>/dev/null || :")

	// Undo installs what the run removed, in the same versions.
	require.Contains(t, l.sh("/opt/ccm/ccm undo"), "3 resources: 3 changed")
	l.says("1.1.0\n1.1.0\ndemo-gem-1.1.0",
		`/opt/venv/bin/python3 -m demo_pkg; sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' /opt/project/node_modules/demo-npm/package.json; echo; ls /opt/gems/gems`)
}
