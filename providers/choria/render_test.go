package choria

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/hosttest"
)

// rendered converges a scaffold of templates to an empty target.
func rendered(t *testing.T, templates map[string]string, change func(*resources.Scaffold)) (map[string]string, error) {
	t.Helper()
	m := newMachine(t, nil)
	s := want(change)
	s.Source = files(t, t.TempDir(), templates)
	require.NoError(t, s.Validate())
	err := m.converge(t, s)
	return m.below(t), err
}

func jets(*resources.Scaffold) {}

func golang(s *resources.Scaffold) { s.Engine = resources.ScaffoldGo }

// "Both engines see facts, Facts, data, Data, lookup", by "Default Delimiters".
func TestEngines(t *testing.T) {
	for _, x := range []struct {
		name   string
		engine func(*resources.Scaffold)
		text   string
		want   string
	}{
		{"jet", jets, "[[ facts.hostname ]] [[ .facts.hostname ]] [[ Facts.hostname ]] [[ .Facts.os.family ]] {{ x }}", "web01 web01 web01 debian {{ x }}"},
		{"jet, data", jets, "[[ data.bind ]] [[ .data.bind ]] [[ Data.packages[1] ]] [[ .Data.users.ann ]]", "0.0.0.0 0.0.0.0 git 1"},
		{"jet, lookup", jets, `[[ lookup("facts.os.family") ]] [[ lookup("facts.no", "none") ]] [[ lookup("facts.no", 3) ]]`, "debian none 3"},
		{"jet, not HTML", jets, `<b> & [[ "<i>" ]]`, "<b> & <i>"},
		{"jet, if and range", jets, `[[ if facts.cores > 2 ]]many[[ end ]][[ range i, p := data.packages ]] [[ i ]]=[[ p ]][[ end ]]`, "many 0=curl 1=git"},
		{"jet, own variable", jets, `[[ facts := "mine" ]][[ facts ]]`, "mine"},
		{"jet, blocks", jets, "[[ block b(x=1) -]]  \n<[[ x ]]>[[ end ]][[ yield b(x=2) ]][[block c()]] c[[end]]", "<1><2> c"},
		{"jet, first line is trimmed", jets, "[[- facts.hostname -]]  \nx", "web01x"},
		{"go", golang, "{{ .facts.hostname }} {{ .Facts.os.family }} {{ .data.bind }} {{ index .Data.packages 1 }} [[ x ]]", "web01 debian 0.0.0.0 git [[ x ]]"},
		{"go, lookup", golang, `{{ lookup "facts.os.family" }} {{ lookup "facts.no" "none" }}`, "debian none"},
		{"go, not HTML", golang, `<b> & {{ "<i>" }}`, "<b> & <i>"},
		// "Sprig Functions"
		{"go, sprig", golang, `{{ .facts.hostname | upper }} {{ join ", " .data.packages }} {{ .data.none | default "d" }}`, "WEB01 curl, git d"},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, err := rendered(t, map[string]string{"f": x.text}, x.engine)
			require.NoError(t, err)
			require.Equal(t, map[string]string{"f": x.want}, got)
		})
	}
}

func TestDelimiters(t *testing.T) {
	for name, engine := range map[string]func(*resources.Scaffold){"jet": jets, "go": golang} {
		for _, d := range [][2]string{{"<<", ">>"}, {"<%", "%>"}, {"((", "))"}, {"[*", "*]"}} {
			got, err := rendered(t, map[string]string{"f": d[0] + " .facts.hostname " + d[1] + "[[ x ]] {{ y }}" + d[0] + ` range .data.packages ` + d[1] + "," + d[0] + " . " + d[1] + d[0] + "end" + d[1]},
				func(s *resources.Scaffold) { engine(s); s.LeftDelimiter, s.RightDelimiter = d[0], d[1] })
			require.NoError(t, err, name)
			require.Equal(t, map[string]string{"f": "web01[[ x ]] {{ y }},curl,git"}, got, name)
		}
	}
}

// The same input gives the same output, also where a table is ranged over.
func TestSameOutput(t *testing.T) {
	const users = "ann=1 bob=4 mia=2 zoe=3 "
	for _, x := range []struct {
		engine func(*resources.Scaffold)
		text   string
		want   string
	}{
		{jets, "[[ range k, v := data.users ]][[ k ]]=[[ v ]] [[ end ]]", users},
		{jets, "[[- range k, v := .data.users -]] [[ k ]]=[[ v ]] [[ end -]]", users},
		{jets, "[[range k,v:=lookup(\"data.users\")]][[k]]=[[v]] [[end]]", users},
		{jets, "[[ range data.users ]][[ . ]] [[ end ]]", "1 4 2 3 "},
		{jets, "[[ range k := data.users ]][[ k ]] [[ end ]]", "ann bob mia zoe "},
		{jets, "[[ range i, x := ints(0, 3) ]][[ x ]] [[ end ]]", "0 1 2 "},
		{golang, "{{ range $k, $v := .data.users }}{{ $k }}={{ $v }} {{ end }}", users},
		{golang, `{{ keys .data.users | join " " }} {{ values .data.users | join " " }}`, "ann bob mia zoe 1 4 2 3"},
	} {
		for range 5 {
			got, err := rendered(t, map[string]string{"f": x.text}, x.engine)
			require.NoError(t, err, x.text)
			require.Equal(t, map[string]string{"f": x.want}, got, x.text)
		}
	}
}

// A template that changes a table changes its own.
func TestTablesAreCopies(t *testing.T) {
	shared := map[string]any{"list": []any{map[string]any{"a": "old"}}}
	p := &scaffolds{env: func(context.Context) (Env, error) {
		return Env{Data: shared, Lookup: func(string, ...any) (any, error) { return shared, nil }}, nil
	}}
	h, _ := hosttest.New(t, nil)
	s := want(func(s *resources.Scaffold) {
		golang(s)
		s.Source = files(t, t.TempDir(), map[string]string{"f": `{{ $x := set (index .data.list 0) "a" "new" }}{{ $x = set (lookup "data") "b" 1 }}{{ (index .data.list 0).a }}`})
	})
	_, err := p.Status(t.Context(), &h.View, s)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"list": []any{map[string]any{"a": "old"}}}, shared)
}

// "Files inside a _partials directory ... are rendered on demand using the
// render function but are excluded from the output." "write creates an
// additional file."
func TestRenderAndWrite(t *testing.T) {
	for name, x := range map[string]struct {
		engine    func(*resources.Scaffold)
		templates map[string]string
	}{
		"jet": {jets, map[string]string{
			"a.conf":             `[[ render("_partials/db.conf", .) ]] [[ render("d/_partials/sub", .data) ]][[ write("extra.conf", "generated " + facts.hostname) ]]`,
			"_partials/db.conf":  "db [[ .facts.hostname ]] [[ facts.os.family ]]",
			"d/_partials/sub":    "[[ .bind ]] [[ facts.hostname ]]",
			"d/_partials/unused": "[[ nonsense",
			"d/b":                "b",
		}},
		"go": {golang, map[string]string{
			"a.conf":             `{{ render "_partials/db.conf" . }} {{ render "d/_partials/sub" .data }}{{ write "extra.conf" (print "generated " .facts.hostname) }}`,
			"_partials/db.conf":  "db {{ .facts.hostname }} {{ .facts.os.family }}",
			"d/_partials/sub":    "{{ .bind }} {{ lookup \"x\" \"web01\" }}",
			"d/_partials/unused": "{{ nonsense",
			"d/b":                "b",
		}},
	} {
		got, err := rendered(t, x.templates, x.engine)
		require.NoError(t, err, name)
		require.Equal(t, map[string]string{"a.conf": "db web01 debian 0.0.0.0 web01", "extra.conf": "generated web01", "d": "", "d/b": "b"}, got, name)
	}
}

// "Do not create empty files in rendered output"
func TestSkipEmpty(t *testing.T) {
	templates := map[string]string{"empty": "", "blank": " \n\t\n", "d/nothing": "[[ if false ]]x[[ end ]]", "full": "x", "keep/": "", "p": `[[ render("_partials/none", .) ]]x`, "_partials/none": ""}
	got, err := rendered(t, templates, jets)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"empty": "", "blank": " \n\t\n", "d": "", "d/nothing": "", "full": "x", "keep": "", "p": "x"}, got)
	skip := func(s *resources.Scaffold) { s.SkipEmpty = true }
	got, err = rendered(t, templates, skip)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"full": "x", "keep": "", "p": "x"}, got)

	// An empty result means that the file is not rendered.
	m := newMachine(t, map[string]string{"etc/app/empty": "was full"})
	s := want(skip)
	s.Source = files(t, t.TempDir(), templates)
	require.Equal(t, []string{"/etc/app/empty"}, m.state(t, s).Purged)
	s.Source = files(t, t.TempDir(), map[string]string{"empty": ""})
	require.NoError(t, m.converge(t, s), "nothing to render is in order")
}

func TestNoTemplates(t *testing.T) {
	for _, templates := range []map[string]string{{}, {"d/": ""}, {"_partials/x": "x"}} {
		_, err := rendered(t, templates, jets)
		require.ErrorContains(t, err, "no template in ")
	}
}

// "Use {} as a placeholder for the file's full path; if omitted, the path is
// appended as the last argument." "Files skipped due to skip_empty are not
// post-processed."
func TestPost(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	script := filepath.Join(t.TempDir(), "note")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >>"+log+"\n"), 0o755))
	templates := map[string]string{"a.go": "a", "d/b.go": "b", "c.sh": "c", "empty.go": "", "e.txt": "e"}
	m := newMachine(t, nil)
	s := want(func(s *resources.Scaffold) {
		s.SkipEmpty = true
		s.Post = []map[string]string{
			{"*.go": script + " first {} 'two words' {}.bak", "a*": script + " second"},
			{"*.sh": "sed -i s/c/changed/ {}"},
		}
	})
	s.Source = files(t, t.TempDir(), templates)
	have := m.state(t, s)
	require.Equal(t, []string{"/etc/app/a.go", "/etc/app/c.sh", "/etc/app/d/b.go", "/etc/app/e.txt"}, have.Changed)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^first (/.*/target/a\.go) two words /.*/target/a\.go\.bak$`, lines[0])
	require.Regexp(t, `^second /.*/target/a\.go$`, lines[1])
	require.Regexp(t, `^first /.*/target/d/b\.go two words `, lines[2])

	require.NoError(t, m.converge(t, s))
	require.Equal(t, map[string]string{"a.go": "a", "d": "", "d/b.go": "b", "c.sh": "changed", "e.txt": "e"}, m.below(t))
}

func TestPostFails(t *testing.T) {
	for command, want := range map[string]string{
		"sh -c 'echo broken >&2; exit 3' --": "post-processing a: sh -c 'echo broken >&2; exit 3' -- ",
		"rm":                                 "post-processing a: expected a file afterwards, found nothing",
		"no-such-command":                    `post-processing a: command "no-such-command" not found`,
		"ln -sf /etc/passwd":                 "post-processing a: expected a file afterwards, found a symbolic link",
	} {
		got, err := rendered(t, map[string]string{"a": "x"}, func(s *resources.Scaffold) { s.Post = []map[string]string{{"*": command}} })
		require.ErrorContains(t, err, want)
		require.Empty(t, got)
	}
}

// A look runs post by way of what only asks; absent does not run it at all.
func TestPostInStatus(t *testing.T) {
	root := t.TempDir()
	ran := &hosttest.Runner{Answer: func(host.Cmd) (host.Result, error) { return host.Result{}, nil }}
	h := host.New(host.Options{Root: root, Runner: ran, Effect: func(op, path string) error { return errors.New("a look has no effects: " + op + " " + path) }})
	files(t, root, map[string]string{"etc/app/a": "x"})
	s := want(func(s *resources.Scaffold) { s.Post = []map[string]string{{"*": "true"}} })
	s.Source = files(t, t.TempDir(), map[string]string{"a": "x"})
	p := &scaffolds{env: env}
	_, err := p.Status(t.Context(), &h.View, s)
	require.NoError(t, err)
	require.Len(t, ran.Ran(), 1)
	s.Ensure = resources.ScaffoldAbsent
	_, err = p.Status(t.Context(), &h.View, s)
	require.NoError(t, err)
	require.Len(t, ran.Ran(), 1)
}

// Mistakes in templates are errors of the resource, without the paths of the
// scratch directory and without the values of variables.
func TestMistakes(t *testing.T) {
	for _, x := range []struct {
		engine func(*resources.Scaffold)
		files  map[string]string
		want   string
	}{
		{jets, map[string]string{"a.conf": "x\n[[ if ]]"}, `parsing template a.conf failed: template: /a.conf:2: parsing if: unexpected token ']]' (expected term)`},
		{jets, map[string]string{"d/a.conf": "x\n[[ range i := ints(0, 2) ]]\nb\n"}, "[[range i := ints(0, 2)]] in line 2 without [[end]]"},
		{golang, map[string]string{"a.conf": "x\n{{ with .facts }}\nb\n"}, "{{with .facts}} in line 2 without {{end}}"},
		{jets, map[string]string{"a.conf": "[[ pw := data.password ]]\n[[ facs.hostname ]]"}, `Jet Runtime Error ("/a.conf":2): identifier "facs" is not defined`},
		{jets, map[string]string{"a.conf": "[[ .facts.nope ]]"}, "there is no field or method 'nope'"},
		{jets, map[string]string{"a.conf": "[[ facts.nope.deep ]]"}, "there is no field or method 'nope'"},
		{jets, map[string]string{"a.conf": "[[ lookup(\"facts.nope\") ]]"}, `no value at "facts.nope"`},
		{jets, map[string]string{"a.conf": "[[ block b() ]][[ yield b() ]][[ end ]]"}, "too many nested templates and blocks: does one call itself?"},
		{jets, map[string]string{"a.conf": "[[ lookup(3) ]]"}, `lookup: expected a path such as facts.os.family`},
		{jets, map[string]string{"a.conf": "x\n[[ facts.nothing ]]"}, "a.conf: line 2 of the output contains a missing value, printed as <nil>"},
		{jets, map[string]string{"a.conf": `[[ render("_partials/no", .) ]]`}, "/_partials/no: no such file or directory"},
		{jets, map[string]string{"a.conf": `[[ render("../../etc/passwd", .) ]]`}, "is not in source directory"},
		{jets, map[string]string{"a.conf": `[[ write("../evil", "x") ]]`}, "/etc/evil is not in target directory /etc/app"},
		{jets, map[string]string{"a.conf": `[[ write("/no/such/evil", "x") ]]`}, "/etc/app/no/such/evil: no such file or directory"},
		{golang, map[string]string{"a.conf": `{{ render "_partials/p" . }}`, "_partials/p": `{{ render "_partials/p" . }}`}, "too many nested templates and blocks: does one call itself?"},
		{golang, map[string]string{"a.conf": "x\n{{ if }}"}, "parsing template a.conf failed: template: a.conf:2: missing value for if"},
		{golang, map[string]string{"a.conf": "{{ .facts.nope }}"}, "a.conf: line 1 of the output contains a missing value, printed as <no value>"},
		{golang, map[string]string{"a.conf": "{{ lookup \"facts.nope\" }}"}, `error calling lookup: no value at "facts.nope"`},
		{golang, map[string]string{"a.conf": "{{ .facts.hostname.x }}"}, `can't evaluate field x in type interface {}`},
		{golang, map[string]string{"a.conf": `{{ fail "no good" }}`}, "error calling fail: no good"},
		{golang, map[string]string{"a.conf": `{{ write "../evil" "x" }}`}, "/etc/evil is not in target directory /etc/app"},
		{golang, map[string]string{"_partials": "x", "a": "x"}, "source: expected a directory, found a file at _partials"},
		{golang, map[string]string{"a": "x", "l": "→ a"}, "source: expected files and directories, found a symbolic link at l"},
	} {
		got, err := rendered(t, x.files, x.engine)
		require.ErrorContains(t, err, x.want)
		require.Empty(t, got)
		require.NotContains(t, err.Error(), "hunter2")
		require.NotContains(t, err.Error(), "/ccm-")
		require.NotContains(t, err.Error(), "scaffold-render")
	}
	// The text for a missing value may be literal.
	got, err := rendered(t, map[string]string{"a": `{{ "x" }} is "<no value>"`}, golang)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": `x is "<no value>"`}, got)
}

// Facts and data are read only when templates are rendered.
func TestEnvironmentIsLazy(t *testing.T) {
	asked := 0
	p := &scaffolds{env: func(context.Context) (Env, error) {
		asked++
		return Env{}, errors.New("no facts")
	}}
	Providers(p.env)
	h, root := hosttest.New(t, nil)
	s := want(func(s *resources.Scaffold) {
		s.Ensure, s.Source = resources.ScaffoldAbsent, files(t, t.TempDir(), map[string]string{"a": "x"})
	})
	_, err := p.Status(t.Context(), &h.View, s)
	require.NoError(t, err)
	require.Zero(t, asked)
	files(t, root, map[string]string{"etc/app/a": "x"})
	_, err = p.Status(t.Context(), &h.View, s)
	require.EqualError(t, err, "no facts")
	require.Equal(t, 1, asked)
}

// Nothing is left of a rendering, however it ends.
func TestNoLeftovers(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	h, _ := hosttest.New(t, nil)
	p := &scaffolds{env: env}
	for _, text := range []string{"x", "[[ if ]]", "[[ nofunc() ]]"} {
		s := want(func(s *resources.Scaffold) {
			s.Source = files(t, filepath.Join(h.Root(), "src"), map[string]string{"a": text})
		})
		_, _ = p.Status(ctx, &h.View, s)
		require.Empty(t, hosttest.Snapshot(t, tmp))
	}
	cancel()
	_, err := p.Status(ctx, &h.View, want(func(s *resources.Scaffold) {
		s.Source = files(t, filepath.Join(h.Root(), "src"), map[string]string{"a": "x"})
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hosttest.Snapshot(t, tmp))
}
