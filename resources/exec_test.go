package resources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/resource"
)

// The decision table and flow of the exec documents: subscribe over everything,
// then creates, then guards, then refreshonly.
func TestExecDecide(t *testing.T) {
	yes, no := new(true), new(false)
	all := Exec{Creates: "/x", OnlyIf: "a", Unless: "b"}
	for _, x := range []struct {
		name    string
		want    Exec
		have    ExecState
		refresh bool
		phrase  string
	}{
		{"subscribe triggered", Exec{}, ExecState{}, true, "executed via subscribe"},
		{"subscribe over creates", Exec{Creates: "/x"}, ExecState{CreatesSatisfied: true}, true, "executed via subscribe"},
		{"subscribe over onlyif", Exec{OnlyIf: "a"}, ExecState{OnlyIfSatisfied: no}, true, "executed via subscribe"},
		{"subscribe over unless", Exec{Unless: "a"}, ExecState{UnlessSatisfied: yes}, true, "executed via subscribe"},
		{"subscribe and refreshonly", Exec{RefreshOnly: true}, ExecState{}, true, "executed via subscribe"},
		{"creates file exists", Exec{Creates: "/x"}, ExecState{CreatesSatisfied: true}, false, ""},
		{"creates over guards", all, ExecState{CreatesSatisfied: true, OnlyIfSatisfied: yes, UnlessSatisfied: no}, false, ""},
		{"onlyif satisfied", Exec{OnlyIf: "a"}, ExecState{OnlyIfSatisfied: yes}, false, "executed"},
		{"onlyif not satisfied", Exec{OnlyIf: "a"}, ExecState{OnlyIfSatisfied: no}, false, ""},
		{"unless satisfied", Exec{Unless: "a"}, ExecState{UnlessSatisfied: yes}, false, ""},
		{"unless not satisfied", Exec{Unless: "a"}, ExecState{UnlessSatisfied: no}, false, "executed"},
		{"all say run", all, ExecState{OnlyIfSatisfied: yes, UnlessSatisfied: no}, false, "executed"},
		{"refreshonly, no trigger", Exec{RefreshOnly: true}, ExecState{}, false, ""},
		{"refreshonly, guard says run", Exec{RefreshOnly: true, OnlyIf: "a"}, ExecState{OnlyIfSatisfied: yes}, false, ""},
		{"no refreshonly, no creates", Exec{}, ExecState{}, false, "executed"},
	} {
		d := x.want.Decide(x.have)
		if x.refresh {
			d = x.want.Refresh(x.have, d)
		}
		if x.phrase == "" {
			require.True(t, d.Stable(), x.name)
			continue
		}
		require.Equal(t, []resource.Action{{Verb: "Execute", Phrase: x.phrase}}, d.Actions, x.name)
	}
}

// The table of property validation of the posix provider's document.
func TestExecValidate(t *testing.T) {
	good := Exec{Name: "/bin/true", Returns: []int{0}}
	for _, x := range []struct {
		change func(*Exec)
		err    string
	}{
		{func(*Exec) {}, ""},
		{func(e *Exec) { e.Name = "echo 'x" }, `name: unterminated single-quoted string in "echo 'x"`},
		{func(e *Exec) { e.Name = " " }, "command: no command specified"},
		{func(e *Exec) { e.Path = "/bin:/usr/bin" }, ""},
		{func(e *Exec) { e.Path = "/bin:bin" }, `path: expected absolute directories, got "bin"`},
		{func(e *Exec) { e.Environment = []string{"A=b", "EMPTY="} }, `environment: expected KEY=VALUE with a key and a value, got "EMPTY=" as item 2`},
		{func(e *Exec) { e.Environment = []string{"=b"} }, `environment: expected KEY=VALUE with a key and a value, got "=b" as item 1`},
		{func(e *Exec) { e.Environment = []string{"novalue"} }, `environment: expected KEY=VALUE with a key and a value, got "novalue" as item 1`},
		{func(e *Exec) { e.Returns = []int{0, 256} }, "returns: expected exit codes from 0 to 255, got 256"},
		{func(e *Exec) { e.Cwd = "tmp" }, `cwd: expected an absolute path, got "tmp"`},
		{func(e *Exec) { e.Creates = "x" }, `creates: expected an absolute path, got "x"`},
	} {
		e := good
		x.change(&e)
		if x.err == "" {
			require.NoError(t, e.Validate())
			continue
		}
		require.EqualError(t, e.Validate(), x.err)
	}
	quoted := Exec{Name: "x", Command: "echo it's", Unless: "test 'x"}
	require.EqualError(t, quoted.ValidateWith(resource.Common{}),
		"command: unterminated single-quoted string in \"echo it's\"\nunless: unterminated single-quoted string in \"test 'x\"")
	require.NoError(t, quoted.ValidateWith(resource.Common{Provider: "shell"}))
	for _, e := range []Exec{{Name: "a | b"}, {Name: "a", Command: "a | b"}, {Name: "a", OnlyIf: "a | b"}, {Name: "a", Unless: "a | b"}} {
		require.ErrorContains(t, e.ValidateWith(resource.Common{}), `| requires a shell, but "a | b"`)
		require.NoError(t, e.ValidateWith(resource.Common{Provider: "shell"}))
	}
	require.NoError(t, Exec{Name: "a | b", Command: "a"}.ValidateWith(resource.Common{}))
}
