package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConvert(t *testing.T) {
	w := newWorld(t, map[string]string{"child.yaml": in("    - package: [{child: }]\n"), "motd.txt": "x\n"})
	m, err := w.load(t, "m.yaml", `
data: {package_name: httpd, port: 8080, on: true, version: 1.10, dirs: [/a, /b]}
ccm:
  fail_on_error: true
  pre_message: "Hello\n"
  post_message: Done.
  resources:
    - package:
        - "${ lookup('data.package_name') }":
            ensure: latest
        - zsh: {ensure: present}
        - tar: {ensure: present}
        - vim:
    - file:
        - defaults: {owner: root, mode: 0644}
        - /etc/motd:
            content: |
              Welcome to {{ lookup('facts.hostname') }}
              Managed by CCM
        - /etc/long:
            content: |
              one ]] two
              three
              four
        - /etc/port: {content: "${ Data.port }", group: "${ Data.version }"}
        - /etc/file: {content: "${ file('motd.txt') }"}
        - /etc/only: {content: x, control: {if: Data.on, unless: Facts.os.family == 'rhel'}}
        - /etc/never: {content: "${ Facts.nope }", control: {if: Facts.os.family == 'rhel'}}
    - exec:
        - go:
            environment: ["A=${ Data.port }", B=2]
            returns: [0, "${ 1 + 1 }"]
            refresh_only: true
            headers: {X-Port: "${ Data.port }", Y: 1}
            any: {deep: [1, {x: "y"}], ratio: 0.5, mode: 0644}
            subscribe: [file#/etc/motd, file#/etc/never]
            health_checks: [{command: /bin/check, tries: 5}]
    - apply: [{child.yaml: {data: {a: "${ Data.port }"}}}]
`)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, m.Convert(&out))
	require.Equal(t, `data.load "m.yaml" -- for its data, hierarchy and overrides
print "Hello"
-- fail_on_error is set in m.yaml: the first failure ends the run
package { data.package_name, ensure = "latest" }
package { "zsh", "tar", ensure = "present" }
package "vim"
file {
  "/etc/motd",
  content = "Welcome to " .. facts.hostname .. "\nManaged by CCM\n",
  owner = "root",
  mode = "0644",
}
file {
  "/etc/long",
  content = [=[
one ]] two
three
four
]=],
  owner = "root",
  mode = "0644",
}
file {
  "/etc/port",
  content = tostring(data.port),
  group = data.version,
  owner = "root",
  mode = "0644",
}
file {
  "/etc/file",
  content = "x\n", -- ${ file('motd.txt') }
  owner = "root",
  mode = "0644",
}
if data.on and not (facts.os.family == "rhel") then
  file { "/etc/only", content = "x", owner = "root", mode = "0644" }
end
if facts.os.family == "rhel" then
  file { "/etc/never", content = facts.nope, owner = "root", mode = "0644" }
end
exec {
  "go",
  environment = { "A=" .. data.port, "B=2" },
  returns = { 0, 1 + 1 },
  refresh_only = true,
  headers = { ["X-Port"] = tostring(data.port), Y = "1" },
  any = { deep = { 1, { x = "y" } }, ratio = 0.5, mode = "0644" },
  subscribe = { "file#/etc/motd" }, -- file#/etc/never may be absent
  health_checks = { { command = "/bin/check", tries = 5 } },
}
apply { "child.yaml", data = { a = data.port } }
-- post_message of m.yaml: "Done."
`, out.String())
}
