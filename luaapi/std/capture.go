package std

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/resource"
	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/words"
)

func captureLibrary() *Library {
	return &Library{
		Name: "capture",
		Doc:  "Runs a read-only command.",
		Funcs: []Func{{
			Signature: `capture(command: string|string[]|{ timeout?: string, cwd?: string, env?: table<string, string>|string[], stdin?: string, check?: boolean }): (output: string, code: integer, errors: string)`,
			Doc: "Runs a command and returns its output without the line breaks at its end, its exit code and its standard error. " +
				"The command is a list of words, or one string that is split as by str.shell_split; no shell is started. Options follow the words; env is a table, or a list of KEY=VALUE. " +
				"The command must be read-only, because it also runs for a plan; use exec to change the machine. Its output is an input of the run. " +
				"An exit code other than 0 is an error, unless check is false; so is a missing command, or one that exceeds the timeout of 30s.",
			Example: `capture { "printf", "%s-%s\\n", "a", "b" }`, Result: `"a-b", 0, ""`,
			Fn: capture,
		}},
	}
}

func capture(c *call) int {
	cmd := commandArg(c, 1)
	res, err := c.View.Query(c.in.Context(), cmd)
	c.must(err)
	c.Record(Input{Kind: "command", Name: cmd.String(), Value: fmt.Sprintf("%d %s", res.Code, sha256sum.Bytes(res.Stdout)), Text: string(res.Stdout)})
	if c.option(1, "check") != lua.LFalse {
		c.must(res.Err(cmd))
	}
	out := strings.TrimRight(string(res.Stdout), "\n")
	return c.give(lua.LString(out), lua.LNumber(res.Code), lua.LString(strings.TrimRight(string(res.Stderr), "\n")))
}

// commandArg returns the command that argument n is.
func commandArg(c *call, n int) host.Cmd {
	cmd := host.Cmd{Timeout: defaultTimeout}
	if t := c.table(n); t != nil {
		for i := range t.Len() {
			word, ok := t.RawGetInt(i + 1).(lua.LString)
			if n, isNumber := t.RawGetInt(i + 1).(lua.LNumber); isNumber {
				word, ok = lua.LString(n.String()), true
			}
			if !ok {
				c.fail("%w", diag.Expected("a list of strings").Got("%s as word %d", c.describe(t.RawGetInt(i+1)), i+1))
			}
			cmd.Argv = append(cmd.Argv, string(word))
		}
		cmd.Timeout = timeoutOption(c, n, defaultTimeout)
		cmd.Dir = c.optionStr(n, "cwd", "")
		if cmd.Dir != "" && !path.IsAbs(cmd.Dir) {
			c.fail("%w", diag.Expected("an absolute path as cwd").Got("%q", cmd.Dir))
		}
		if in, ok := c.option(n, "stdin").(lua.LString); ok {
			cmd.Stdin = []byte(in)
		}
		cmd.Env = environmentOption(c, n)
	} else {
		words, err := resource.SplitWords(c.str(n))
		c.must(err)
		cmd.Argv = words
	}
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		c.fail("%w", diag.Expected("a command").Got("nothing"))
	}
	return cmd
}

// timeoutOption returns the option of that name, or a default.
func timeoutOption(c *call, n int, def time.Duration) time.Duration {
	text := c.optionStr(n, "timeout", "")
	if text == "" {
		return def
	}
	var d host.Duration
	if err := d.UnmarshalText([]byte(text)); err != nil {
		c.fail("timeout: %w", err)
	}
	if d == 0 {
		c.fail("timeout: %w", diag.Expected("more than 0"))
	}
	return time.Duration(d)
}

// environmentOption returns the option env as KEY=value, in order.
func environmentOption(c *call, n int) []string {
	t, ok := c.option(n, "env").(*lua.LTable)
	if !ok {
		return nil
	}
	t = c.in.Tables.Listing(c.L, t)
	vars := make(map[string]string)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if pair, ok := v.(lua.LString); ok && k.Type() == lua.LTNumber {
			if name, val, ok := strings.Cut(string(pair), "="); ok && name != "" {
				vars[name] = val
				continue
			}
		}
		if k.Type() != lua.LTString || !lua.LVCanConvToString(v) {
			c.fail("%w", diag.Expected("strings in env").Got("%s = %s", keyText(k), c.describe(v)))
		}
		vars[lua.LVAsString(k)] = lua.LVAsString(v)
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, k+"="+vars[k])
	}
	return list
}

// withTimeout returns the context of the evaluation, which ends after d as well.
func withTimeout(c *call, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(c.in.Context(), d, fmt.Errorf("%w after %s", host.ErrTimeout, words.Duration(d)))
}

// recordText records text as an input of the run.
func recordText(c *call, kind, name, text string) {
	c.Record(Input{Kind: kind, Name: name, Value: sha256sum.Bytes([]byte(text)), Text: text})
}
