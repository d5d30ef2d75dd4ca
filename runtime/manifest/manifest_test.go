package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/resource"
)

func in(resources string) string { return "ccm:\n  resources:\n" + resources }

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       []string
	}{
		{"a list of named resources", in("    - package:\n        - zsh:\n            ensure: present\n        - tar: {ensure: absent}\n"), []string{"package#zsh", "package#tar"}},
		{"several blocks", in("    - package: [{zsh: }]\n    - file:\n        - /etc/motd: {owner: root}\n    - package: [{tar: {}}]\n"), []string{"package#zsh", "file#/etc/motd", "package#tar"}},
		{"the single form", in("    - package:\n        name: zsh\n        ensure: \"5.9\"\n"), []string{"package#zsh"}},
		{"the single form by an alias of the name", in("    - file: {path: /etc/motd, owner: root}\n"), []string{"file#/etc/motd"}},
		{"a null body", in("    - package:\n        - zsh:\n        - tar: ~\n"), []string{"package#zsh", "package#tar"}},
		{"no resources", in("    []\n"), nil},
		{"a name that is a number", in("    - package: [{7: }]\n"), []string{"package#7"}},
		{"JSON", `{"ccm": {"resources": [{"package": [{"zsh": {"ensure": "present"}}]}]}}`, []string{"package#zsh"}},
	} {
		w := loaded(t, tt.yaml)
		require.Equal(t, tt.want, w.ids(), tt.name)
	}
}

func TestDefaultsOfABlock(t *testing.T) {
	w := loaded(t, in(`
    - file:
        - defaults:
            owner: app
            group: app
            mode: "0644"
            ensure: present
        - /app/config/file.conf:
            source: file.conf
        - /app/bin/app:
            source: app.bin
            mode: "0700"
    - file:
        - /etc/motd:
            owner: root
        - /etc/other:
            contents: x
            owner: root
        - defaults: {content: "of the block", group: wheel}
`))
	f := spec[File](t, w, "file#/app/config/file.conf")
	require.Equal(t, []string{"app", "app", "0644", "/site/file.conf"}, []string{f.Owner, f.Group, string(*f.Mode), f.Source})
	require.Equal(t, "0700", string(*spec[File](t, w, "file#/app/bin/app").Mode))
	require.Equal(t, "of the block", *spec[File](t, w, "file#/etc/motd").Content)
	require.Equal(t, "x", *spec[File](t, w, "file#/etc/other").Content, "an alias is the same property")
	require.Equal(t, "wheel", spec[File](t, w, "file#/etc/other").Group)
}

func TestPropertiesArriveAsWritten(t *testing.T) {
	w := loaded(t, in(`
    - file:
        - /a: {owner: root, mode: 0644, group: 1000}
        - /b: {owner: yes, mode: 0o644, group: 2026-01-02}
        - /c: {owner: root, mode: "755", content: 1.10}
        - /d:
            owner: root
            content: |
              one
                two

              three
        - /e:
            owner: root
            content: >
              folded
              text
    - package:
        - a: {ensure: 1.10}
        - b: {ensure: true}
        - c: {ensure: 0x1F}
    - exec:
        - run:
            environment: [A=1, B=2]
            returns: [0, 2]
            timeout: 5m
            headers: {X: 1, Y: yes}
            any: {port: 8080, ratio: 0.5, list: [a, 1], deep: {on: true}, mode: 0644, version: 1.10}
        - one: {returns: 3, environment: A=1}
`))
	a, b := spec[File](t, w, "file#/a"), spec[File](t, w, "file#/b")
	require.Equal(t, []string{"0644", "1000"}, []string{string(*a.Mode), a.Group})
	require.Equal(t, []string{"yes", "0o644", "2026-01-02"}, []string{b.Owner, string(*b.Mode), b.Group})
	require.Equal(t, "1.10", *spec[File](t, w, "file#/c").Content)
	require.Equal(t, "one\n  two\n\nthree\n", *spec[File](t, w, "file#/d").Content)
	require.Equal(t, "folded text\n", *spec[File](t, w, "file#/e").Content)
	require.Equal(t, "1.10", spec[Package](t, w, "package#a").Ensure)
	require.Equal(t, "true", spec[Package](t, w, "package#b").Ensure)
	require.Equal(t, "0x1F", spec[Package](t, w, "package#c").Ensure)
	e := spec[Exec](t, w, "exec#run")
	require.Equal(t, []int{0, 2}, e.Returns)
	require.Equal(t, []string{"A=1", "B=2"}, e.Environment)
	require.Equal(t, map[string]string{"X": "1", "Y": "yes"}, e.Headers)
	require.Equal(t, map[string]any{"port": int64(8080), "ratio": 0.5, "list": []any{"a", int64(1)}, "deep": map[string]any{"on": true}, "mode": "0644", "version": "1.10"}, e.Any)
	require.Equal(t, []int{3}, spec[Exec](t, w, "exec#one").Returns)
}

func TestAnchorsAndMergeKeys(t *testing.T) {
	w := loaded(t, `
data:
  owners: &owners {owner: root, group: root}
ccm:
  resources:
    - file:
        - /a: {<<: *owners, mode: "0600"}
        - /b: *owners
`)
	require.Equal(t, "root", spec[File](t, w, "file#/a").Owner)
	require.Equal(t, "root", spec[File](t, w, "file#/b").Group)
}

func TestCommonProperties(t *testing.T) {
	w := loaded(t, in(`
    - package:
        - httpd:
            alias: web
            provider: apt
            before: exec#first
    - exec:
        - first:
            subscribe: [package#web]
            notify: exec#second
            health_checks:
              - command: /usr/bin/check -H ${ lookup('facts.hostname') }
                name: check_web
                tries: 5
                try_sleep: 2s
                timeout: 10s
        - second:
            require: package#httpd
            refresh_only: true
`))
	r := w.Get(resource.ID{Type: "exec", Name: "first"})
	require.Equal(t, []resource.Reference{{Type: "package", Name: "web"}}, r.Common.Subscribe)
	require.Equal(t, "/usr/bin/check -H web01", r.Common.HealthChecks[0].Command)
	require.Equal(t, 5, r.Common.HealthChecks[0].Tries)
	require.Equal(t, "apt", w.Get(resource.ID{Type: "package", Name: "web"}).Common.Provider)
	require.True(t, spec[Exec](t, w, "exec#second").RefreshOnly)
}

// TestControl is the table of the documentation.
func TestControl(t *testing.T) {
	for _, tt := range []struct {
		when, unless string
		managed      bool
	}{
		{"", "", true},
		{"true", "", true},
		{"false", "", false},
		{"", "true", false},
		{"", "false", true},
		{"true", "true", false},
		{"true", "false", true},
		{"false", "true", false},
		{"false", "false", false},
	} {
		text := "    - package:\n        name: zsh\n        control:\n"
		if tt.when != "" {
			text += "          if: " + tt.when + "\n"
		}
		if tt.unless != "" {
			text += "          unless: " + tt.unless + "\n"
		}
		r := loaded(t, in(text)).Get(resource.ID{Type: "package", Name: "zsh"})
		require.Equal(t, tt.managed, r.Skip == "", "if %q unless %q: %s", tt.when, tt.unless, r.Skip)
	}
}

func TestControlExpressions(t *testing.T) {
	w := loaded(t, in(`
    - package:
        name: zsh
        ensure: 5.9
        control:
          if: lookup("facts.host.info.os") == "linux"
          unless: lookup("facts.host.info.virtualizationSystem") == "docker"
    - package:
        - bash:
            control: {if: "${ Facts.os.family == 'debian' }"}
        - none: {control: }
`))
	require.Equal(t, "control.unless is true", w.Get(resource.ID{Type: "package", Name: "zsh"}).Skip)
	require.Empty(t, w.Get(resource.ID{Type: "package", Name: "bash"}).Skip)
	require.Empty(t, w.Get(resource.ID{Type: "package", Name: "none"}).Skip)
}

func TestSkippedBeforeItsTemplatesAreResolved(t *testing.T) {
	w := loaded(t, in(`
    - file:
        - /etc/motd:
            control: {if: "false"}
            content: "${ lookup('data.nope') }"
            mode: "${ Facts.nope.deep }"
            unknown_property: 5
        - "/etc/${ Facts.os.family }":
            control: {if: "false"}
            alias: conf
        - "/etc/${ Facts.nope }":
            control: {if: "false"}
    - exec:
        - go: {require: [file#/etc/motd, file#/etc/debian, file#conf]}
`))
	require.Equal(t, []string{"file#/etc/motd", "file#/etc/debian", "file#/etc/${ Facts.nope }", "exec#go"}, w.ids())
}

func TestOppositeConditions(t *testing.T) {
	w := loaded(t, in(`
    - package:
        - httpd: {alias: web, control: {if: Facts.os.family == "rhel"}}
        - apache2: {alias: web, control: {unless: Facts.os.family == "rhel"}}
        - same: {ensure: "1", control: {if: "false"}}
        - same: {ensure: "2", control: {if: "true"}}
        - same: {ensure: "3", control: {if: "false"}}
    - exec:
        - go: {require: package#web}
`))
	require.Equal(t, "apache2", w.Get(resource.ID{Type: "package", Name: "web"}).ID.Name)
	require.Equal(t, "2", spec[Package](t, w, "package#same").Ensure)
	require.Equal(t, []string{"package#httpd", "package#apache2", "package#same", "exec#go"}, w.ids())
}

func TestTemplates(t *testing.T) {
	w := newWorld(t, map[string]string{"motd.txt": "text ${ not }", "m.templ": "on ${ Facts.hostname }"})
	_, err := w.load(t, "m.yaml", `
data:
  package_name: httpd
  mode: 0640
  port: 8080
  version: 1.10
  codes: [0, 3]
  env: {A: 1}
  evil: overridden
  nothing:
hierarchy:
  order:
    - os:${ lookup('facts.host.info.platformFamily') }
overrides:
  os:debian:
    package_name: apache2
    evil: "{{ 1 }}${ '${ x }' }"
ccm:
  resources:
    - package:
        - "${ lookup('data.package_name') }":
            ensure: ${ Data.version }
    - file:
        - /etc/{{ lookup('data.package_name') }}/ports.conf:
            owner: root
            mode: ${ Data.mode }
            group: ${ Data.nothing }
            content: |
              Listen ${ Data.port }
                evil: {{ Data.evil }}
        - /file: {owner: root, content: "${ file('motd.txt') }"}
        - /templ: {owner: root, content: "${ template('m.templ') }"}
        - /env: {owner: "${ env.HOME }", content: "${ now() }"}
    - exec:
        - run:
            returns: ${ Data.codes }
            headers: {"${ Data.package_name }": "${ Data.port }"}
            any: ${ Data.env }
            environment: ["PORT=${ Data.port }"]
            timeout: ${ '5m' }
`)
	require.NoError(t, err)
	require.Equal(t, "1.10", spec[Package](t, w, "package#apache2").Ensure)
	f := spec[File](t, w, "file#/etc/apache2/ports.conf")
	require.Equal(t, "0640", string(*f.Mode))
	require.Empty(t, f.Group)
	require.Equal(t, "Listen 8080\n  evil: 1${ x }\n", *f.Content, "what data holds is not evaluated again")
	require.Equal(t, "text ${ not }", *spec[File](t, w, "file#/file").Content)
	require.Equal(t, "on web01", *spec[File](t, w, "file#/templ").Content)
	require.Equal(t, "2026-01-02T03:04:05Z", *spec[File](t, w, "file#/env").Content)
	e := spec[Exec](t, w, "exec#run")
	require.Equal(t, []int{0, 3}, e.Returns)
	require.Equal(t, map[string]string{"apache2": "8080"}, e.Headers)
	require.Equal(t, map[string]any{"A": int64(1)}, e.Any)
	require.Equal(t, []string{"PORT=8080"}, e.Environment)
}

func TestJetFile(t *testing.T) {
	const text = `
data:
  common_packages: [zsh, vim-enhanced, tar]
  motd: "${ '${ Data.nope }' }"
ccm:
  resources_jet_file: resources.jet
`
	w := newWorld(t, map[string]string{"resources.jet": `{* resources.jet *}
[[ range Data.common_packages ]]
- package:
    - [[ . ]]:
        ensure: present
[[ end ]]
- file:
    - /etc/motd:
        owner: root
        group: ${ Facts.os.family }
        content: "[[ Data.motd ]]"
`})
	_, err := w.load(t, "m.yaml", text)
	require.NoError(t, err)
	require.Equal(t, []string{"package#zsh", "package#vim-enhanced", "package#tar", "file#/etc/motd"}, w.ids())
	require.Equal(t, "${ Data.nope }", *spec[File](t, w, "file#/etc/motd").Content, "text from data is not an expression")
	require.Equal(t, "debian", spec[File](t, w, "file#/etc/motd").Group, "text of the template is")
	require.Equal(t, diag.Pos{File: "resources.jet", Line: 4}, w.Get(resource.ID{Type: "package", Name: "tar"}).Pos)

	w = newWorld(t, map[string]string{"resources.jet": "[[ range Data.nothing ]]x[[ end ]]"})
	_, err = w.load(t, "m.yaml", "data: {nothing: []}\nccm: {resources_jet_file: resources.jet}\n")
	require.NoError(t, err)
	require.Empty(t, w.ids())
}

func TestJetFileMistakes(t *testing.T) {
	for _, tt := range []struct{ jet, want string }{
		{"- package:\n[[ range Data.l ]]\n    - [[ . ]]: {ensur: x}\n[[ end ]]",
			"resources.jet:3: package#a: unknown property \"ensur\" (did you mean \"ensure\"?)\n  m.yaml:2:27: rendered from here\n" +
				"resources.jet:3: package#b: unknown property \"ensur\" (did you mean \"ensure\"?)\n  m.yaml:2:27: rendered from here"},
		{"- package:\n    - [[ Data.nope ]]:\n", "resources.jet:2: undefined value Data.nope: add a default with lookup(path, default), or test it with isset\n  m.yaml:2:27: rendered from here"},
		{"- package:\n[[ range ]]\n", "resources.jet:2: parsing range: unexpected token ']]' (expected term)\n  m.yaml:2:27: rendered from here"},
		{"- package:\n    - a:\n        ensure: ${ Data.nope }\n", "resources.jet:3: package#a: ensure: no data \"nope\" (add a default with lookup(path, default) or ??)\n  m.yaml:2:27: rendered from here"},
		{"- package:\n    - a:\n   - b:\n", "resources.jet:3: not valid YAML: did not find expected key (it renders as line \"- b:\")\n  m.yaml:2:27: rendered from here"},
		{"package: x\n", "resources.jet:1: ccm.resources: expected a list, got a table\n  m.yaml:2:27: rendered from here"},
	} {
		w := newWorld(t, map[string]string{"resources.jet": tt.jet})
		_, err := w.load(t, "m.yaml", "data: {l: [a, b]}\nccm: {resources_jet_file: resources.jet}\n")
		require.EqualError(t, err, tt.want)
	}
}

func TestMessagesAndFailOnError(t *testing.T) {
	w := newWorld(t, nil)
	m, err := w.load(t, "m.yaml", `
ccm:
  fail_on_error: true
  pre_message: |
    Starting on ${ Facts.os.family }...
  post_message: Configuration complete.
  resources:
    - exec: [{/usr/bin/false: {}}]
`)
	require.NoError(t, err)
	require.True(t, m.FailOnError)
	require.Equal(t, "Starting on debian...\n", m.PreMessage)
	require.Equal(t, "Configuration complete.", m.PostMessage)
	require.True(t, w.Resources()[0].Scope.FailOnError)
}
