package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
)

func TestCommands(t *testing.T) {
	h := host.New(host.Options{})
	res, err := h.Query(t.Context(), host.Cmd{Argv: []string{"sh", "-c", "echo out; echo err >&2; echo $LC_ALL; exit 3"}})
	require.NoError(t, err)
	require.Equal(t, host.Result{Stdout: []byte("out\nC.UTF-8\n"), Stderr: []byte("err\n"), Code: 3}, res)
	require.EqualError(t, res.Err(host.Cmd{Argv: []string{"x", "y z"}}), "x 'y z': exit status 3: err\nstandard output: out\nC.UTF-8")
	res, err = h.Query(t.Context(), host.Cmd{Argv: []string{"sh", "-c", "kill -9 $$"}})
	require.NoError(t, err)
	require.Equal(t, 137, res.Code)
	_, err = h.Query(t.Context(), host.Cmd{Argv: []string{"ccm-no-such-command"}, Path: "/bin"})
	require.EqualError(t, err, `command "ccm-no-such-command" not found in /bin`)
	_, err = h.Query(t.Context(), host.Cmd{Argv: []string{"ccm-no-such-command"}, Path: "/a:/b:/c:/d:/e"})
	require.EqualError(t, err, `command "ccm-no-such-command" not found in /a, /b, /c and 2 more directories`)
	_, err = h.Query(t.Context(), host.Cmd{})
	require.EqualError(t, err, "no command specified")
	res, err = h.Query(t.Context(), host.Cmd{Argv: []string{"cat"}, Stdin: []byte("in")})
	require.NoError(t, err)
	require.Equal(t, "in", string(res.Stdout))
}

// TestOutputIsBounded: of long output the beginning and the end are kept.
func TestOutputIsBounded(t *testing.T) {
	h := host.New(host.Options{})
	res, err := h.Query(t.Context(), host.Cmd{Argv: []string{"sh", "-c", "echo first; head -c 30000000 /dev/zero; echo last"}})
	require.NoError(t, err)
	require.Less(t, len(res.Stdout), command.OutputLimit+100)
	require.True(t, strings.HasPrefix(string(res.Stdout), "first\n"))
	require.True(t, strings.HasSuffix(string(res.Stdout), "last\n"))
	require.Contains(t, string(res.Stdout), "bytes omitted]")
}

// TestWorkingDirectory: PWD is the working directory, for programs that use the variable.
func TestWorkingDirectory(t *testing.T) {
	t.Setenv("PWD", "/elsewhere")
	dir := t.TempDir()
	for in, want := range map[string]string{dir: dir, "": "/"} {
		res, err := host.New(host.Options{}).Run(t.Context(), host.Cmd{Argv: []string{"env"}, Dir: in})
		require.NoError(t, err)
		require.Contains(t, strings.Split(string(res.Stdout), "\n"), "PWD="+want)
	}
}

func TestOnLine(t *testing.T) {
	var lines []string
	h := host.New(host.Options{})
	_, err := h.Run(t.Context(), host.Cmd{Argv: []string{"sh", "-c", "echo one; printf two"}, OnLine: func(l string) { lines = append(lines, l) }})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, lines)
	// A line of one output is not joined with the other output.
	lines = nil
	_, err = h.Run(t.Context(), host.Cmd{Argv: []string{"sh", "-c", "printf begun; sleep 0.1; echo other >&2; echo -ended"}, OnLine: func(l string) { lines = append(lines, l) }})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"other", "begun-ended"}, lines)
}

// TestLinesOfOutput: text behind a carriage return is a new line, and an endless line does not hide those after it.
func TestLinesOfOutput(t *testing.T) {
	for script, want := range map[string][]string{
		`printf '10%%\r20%%\r\n30%%\n\nx'`:           {"10%", "20%", "30%", "", "x"},
		`head -c 3000000 /dev/zero; echo; echo last`: {"last"},
	} {
		var lines []string
		h := host.New(host.Options{Output: func(of any, line string) {
			require.Equal(t, "me", of)
			require.LessOrEqual(t, len(line), 2*64<<10)
			lines = append(lines, line)
		}})
		_, err := h.OnBehalfOf("me").Run(t.Context(), host.Cmd{Argv: []string{"sh", "-c", script}})
		require.NoError(t, err)
		require.Equal(t, want, lines[len(lines)-len(want):], script)
	}
}
