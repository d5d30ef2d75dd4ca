package resources

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/safepath"
)

func scaffoldOf(change func(*Scaffold)) Scaffold {
	s := Scaffold{Name: "/etc/app", Ensure: ScaffoldPresent, Source: "/src", Engine: ScaffoldJet}
	if change != nil {
		change(&s)
	}
	return s
}

func scaffolded(changed, stable, purged []string) ScaffoldState {
	return ScaffoldState{Kind: safepath.Directory, TargetExists: true, Changed: changed, Stable: stable, Purged: purged}
}

// "Decision Table" of the scaffold type, with the messages of a plan: "the affected count is the number of changed
// files plus purged files (when purge is enabled)", for absent "the number of changed and stable files plus purged
// files (when purge is enabled)".
func TestScaffoldDecisionTable(t *testing.T) {
	none := []string(nil)
	some := []string{"/etc/app/a", "/etc/app/d/b"}
	extra := []string{"/etc/app/old"}
	missing := ScaffoldState{Changed: some, Missing: some}
	for _, x := range []struct {
		desired         ScaffoldEnsure
		exists, changed string
		purged          string
		purge           bool
		have            ScaffoldState
		stable          string
		would           string
	}{
		{ScaffoldAbsent, "No", "N/A", "N/A", false, ScaffoldState{}, "Yes", ""},
		{ScaffoldAbsent, "No", "N/A", "N/A", true, ScaffoldState{}, "Yes", ""},
		{ScaffoldAbsent, "Yes", "None", "Any", false, scaffolded(none, none, extra), "Yes (no managed files on disk)", ""},
		{ScaffoldAbsent, "Yes", "None", "Any", true, scaffolded(none, none, extra), "Yes (no managed files on disk)", ""},
		{ScaffoldAbsent, "Yes", "Some", "Any", false, scaffolded(some, none, extra), "No (managed files remain)", "Would have removed 2 scaffold files"},
		{ScaffoldAbsent, "Yes", "None, but stable", "Any", false, scaffolded(none, some, extra), "No (managed files remain)", "Would have removed 2 scaffold files"},
		{ScaffoldAbsent, "Yes", "Some", "Any", true, scaffolded(some[:1], some[1:], extra), "No (managed files remain)", "Would have removed 3 scaffold files"},
		{ScaffoldPresent, "Yes", "None", "None", false, scaffolded(none, some, none), "Yes", ""},
		{ScaffoldPresent, "Yes", "None", "None", true, scaffolded(none, some, none), "Yes", ""},
		{ScaffoldPresent, "Yes", "None", "Some", false, scaffolded(none, some, extra), "Yes (purged files ignored)", ""},
		{ScaffoldPresent, "Yes", "None", "Some", true, scaffolded(none, some, extra), "No (purge needed)", "Would have changed 1 scaffold file"},
		{ScaffoldPresent, "Yes", "Some", "Any", false, scaffolded(some, none, extra), "No (render needed)", "Would have changed 2 scaffold files"},
		{ScaffoldPresent, "Yes", "Some", "Any", true, scaffolded(some, none, extra), "No (render needed)", "Would have changed 3 scaffold files"},
		{ScaffoldPresent, "No", "N/A", "N/A", false, missing, "No (target missing)", "Would have changed 2 scaffold files"},
		{ScaffoldPresent, "No", "N/A", "N/A", true, missing, "No (target missing)", "Would have changed 2 scaffold files"},
	} {
		d := scaffoldOf(func(s *Scaffold) { s.Ensure, s.Purge = x.desired, x.purge }).Decide(x.have)
		require.NoError(t, d.Err)
		require.Equal(t, x.stable[0] == 'Y', d.Stable(), "%+v", x)
		require.Equal(t, x.would, would(d), "%+v", x)
		require.Equal(t, d.Stable(), len(d.Diff) == 0)
		require.True(t, d.Stable() || d.Complete)
	}
}

func TestScaffoldDiffAndLeaves(t *testing.T) {
	have := ScaffoldState{
		Changed: []string{"/etc/app/a", "/etc/app/d/e/b", "/etc/app/logs/"}, Missing: []string{"/etc/app/d/e/b", "/etc/app/logs/"},
		Purged: []string{"/etc/app/old"},
	}
	d := scaffoldOf(func(s *Scaffold) { s.Purge = true }).Decide(have)
	require.Equal(t, []resource.Delta{
		{Property: "ensure", Have: "absent", Want: "present"},
		{Property: "source", Have: "a differs", Want: "rendered"},
		{Property: "source", Have: "d/e/b is missing", Want: "rendered"},
		{Property: "source", Have: "logs/ is missing", Want: "rendered"},
		{Property: "purge", Have: "old", Want: "removed"},
	}, d.Diff)
	require.Equal(t, []overlay.PathEffect{
		{Path: "/etc/app", Kind: safepath.Directory},
		{Path: "/etc/app/a", Kind: safepath.Regular},
		{Path: "/etc/app/d/e/b", Kind: safepath.Regular}, {Path: "/etc/app/d/e", Kind: safepath.Directory}, {Path: "/etc/app/d", Kind: safepath.Directory},
		{Path: "/etc/app/logs", Kind: safepath.Directory},
		{Path: "/etc/app/old", Kind: safepath.Missing},
	}, d.Effects)

	absent := scaffoldOf(func(s *Scaffold) { s.Ensure = ScaffoldAbsent })
	have = scaffolded([]string{"/etc/app/b"}, []string{"/etc/app/a"}, nil)
	have.EmptyDirs = []string{"/etc/app/."}
	d = absent.Decide(have)
	require.Equal(t, "ensure: a → absent, ensure: b → absent", d.String())
	require.Contains(t, d.Effects, overlay.PathEffect{Path: "/etc/app", Kind: safepath.Missing})
	d = absent.Decide(scaffolded([]string{"/etc/app/b"}, nil, []string{"/etc/app/old"}))
	require.NotContains(t, d.Effects, overlay.PathEffect{Path: "/etc/app", Kind: safepath.Missing}, "unrelated files keep the target")
}

func TestScaffoldDecideErr(t *testing.T) {
	blocked := scaffolded([]string{"/etc/app/a"}, nil, nil)
	blocked.Obstacles = []string{"a symbolic link at /etc/app/d"}
	for _, x := range []struct {
		have ScaffoldState
		err  string
	}{
		{ScaffoldState{Kind: safepath.Symlink}, "expected a directory, found a symbolic link, which is not replaced or followed"},
		{ScaffoldState{Kind: safepath.Regular}, "expected a directory, found a file, which is not replaced or followed"},
		{ScaffoldState{NoTemplates: true}, "no template in /src"},
		{blocked, "expected files and directories, found a symbolic link at /etc/app/d, which is not replaced or followed"},
	} {
		d := scaffoldOf(nil).Decide(x.have)
		require.EqualError(t, d.Err, x.err)
		require.Empty(t, d.Actions)
	}
}

// "Path Validation", "Validation ensures neither keys nor values are empty",
// and the properties.
func TestScaffoldValidate(t *testing.T) {
	for _, change := range []func(*Scaffold){
		nil,
		func(s *Scaffold) { s.LeftDelimiter, s.RightDelimiter = "<<", ">>" },
		func(s *Scaffold) { s.Post = []map[string]string{{"*.go": "go fmt {}"}, {"*.sh": "chmod +x {}"}} },
	} {
		require.NoError(t, scaffoldOf(change).Validate())
	}
	post := func(glob, command string) func(*Scaffold) {
		return func(s *Scaffold) { s.Post = []map[string]string{{"ok": "true"}, {glob: command}} }
	}
	for _, x := range []struct {
		change func(*Scaffold)
		err    string
	}{
		{func(s *Scaffold) { s.Name = "etc/app" }, `name: expected an absolute path, got "etc/app"`},
		{func(s *Scaffold) { s.Name = "/etc/./app" }, `name: expected a path without . or .. or doubled slashes, got "/etc/./app"`},
		{func(s *Scaffold) { s.Name = "/etc/../app" }, `name: expected a path without . or .. or doubled slashes, got "/etc/../app"`},
		{func(s *Scaffold) { s.Name = "/" }, "name: expected a directory below /, got /"},
		{func(s *Scaffold) { s.Source = "" }, "source: expected a path, got an empty string"},
		{func(s *Scaffold) { s.LeftDelimiter = "<<" }, "right_delimiter: both left_delimiter and right_delimiter must be set, or neither"},
		{func(s *Scaffold) { s.RightDelimiter = ">>" }, "left_delimiter: both left_delimiter and right_delimiter must be set, or neither"},
		{post("", "true"), "post: item 2: expected a glob pattern, got an empty string"},
		{post("*.go", ""), "post: item 2: expected a command for *.go, got an empty string"},
		{post("*.go", "  "), "post: item 2: expected a command for *.go, got an empty string"},
		{post("[", "true"), `post: item 2: expected a glob pattern such as *.conf, got "["`},
		{post("d/*.go", "true"), `post: item 2: expected a pattern for the name without its directory, got "d/*.go"`},
		{post("*.go", "sh -c 'x"), `post: item 2: unterminated single-quoted string in "sh -c 'x"`},
	} {
		err := scaffoldOf(x.change).Validate()
		require.EqualError(t, err, x.err)
		_, ok := errors.AsType[*resource.PropertyError](err)
		require.True(t, ok)
	}
}

// "Source Resolution"
func TestScaffoldResolvePaths(t *testing.T) {
	for source, want := range map[string]string{
		"templates/app": "/site/templates/app", "../app": "/app", "/abs/app": "/abs/app",
		"https://example.net/app": "https://example.net/app", "git://h/app": "git://h/app",
	} {
		got := scaffoldOf(func(s *Scaffold) { s.Source = source })
		got.ResolvePaths("/site")
		require.Equal(t, want, got.Source)
	}
}

// "present if the target directory exists, absent if it does not"
func TestScaffoldCurrentEnsure(t *testing.T) {
	require.Equal(t, "present", scaffolded(nil, nil, nil).CurrentEnsure())
	require.Equal(t, "absent", ScaffoldState{}.CurrentEnsure())
}
